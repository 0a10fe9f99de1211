export const mailDecoder: { name: string; transform(code: string, id: string): string | null };
