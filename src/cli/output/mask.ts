/** A recipient that a log may show: 9911**33, b***@example.mn. */
export function masked(recipient: string): string {
  const at = recipient.lastIndexOf('@');
  if (at > 0) return `${recipient.slice(0, 1)}***${recipient.slice(at)}`;
  const digits = recipient.replace(/[ -]/g, '');
  return digits.length < 4 ? '****' : `${digits.slice(0, -4)}**${digits.slice(-2)}`;
}
