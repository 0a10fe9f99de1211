/** The fields of a report, by their names in lower case. */
export type Group = Map<string, string>;

/** A group ends with an empty line; some servers forget it, and begin the next one with the same field. */
export function groupsIn(text: string): Group[] {
  const groups: Group[] = [];
  let group: Group = new Map();
  let last = '';
  const end = () => {
    groups.push(group);
    group = new Map();
    last = '';
  };
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? [];
    if (line.trim() === '') end();
    // Some servers continue a field without a blank.
    else if (name === '' || /^[ \t]/.test(line)) group.set(last, `${group.get(last) ?? ''} ${line.trim()}`);
    else {
      if (group.has(name.toLowerCase()) && /^(?:final-recipient|action)$/i.test(name)) end();
      last = name.toLowerCase();
      group.set(last, `${group.get(last) ?? ''} ${value}`.trim());
    }
  }
  end();
  return groups;
}
