/** Replaces each `:name` in the texts; an unknown or unused name is an error. */
export function fillIn(
  texts: readonly string[],
  constants: Readonly<Record<string, string | number>>,
): string[] {
  const unused = new Set(Object.keys(constants));
  // A cast has two colons.
  const filled = texts.map((text) =>
    text.replace(/(?<!:):([a-z]\w*)/g, (placeholder, name: string) => {
      const value = constants[name];
      if (value === undefined) throw new Error(`${placeholder} is unknown`);
      unused.delete(name);
      return String(value);
    }),
  );
  if (unused.size > 0) throw new Error(`no text has :${[...unused].join(', :')}`);
  return filled;
}
