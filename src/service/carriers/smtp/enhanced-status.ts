/**
 * RFC 3463: the mailbox, its domain or its address does not exist. Not included: a mailbox that is full or disabled, or a
 * mail refused for its sender or content.
 */
const unknownRecipient = /^5\.1\.(?:1|2|3|6|10)$/;
/** Says nothing but that it failed. */
const unspecific = /^(?:5\.[01345]\.0)?$/;
/** Also `#5.1.1` and `(5.1.1)`, but no IP address. */
const codes = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?!\.?\d)/g;
/** At the begin of an answer, or of one that is quoted: the mailbox may exist later. */
const temporary = /(?:^|[;:])\s*4\d\d[ -]/;

/** What is refused with the code of an unknown mailbox, too: servers give one code for several causes. */
const otherCauses = [
  // Its rate, and what will pass.
  /\b(?:rate|later|again|retr(?:y|ies)|wait|minutes?|seconds?|busy|overload\w*|maintenance|throttl\w*|frequen\w+|hour(?:ly)?|daily|volume|too (?:many|much|fast|quickly|often)|temporar\w+|time(?:d|s)?[ -]?out)\b/,
  // Its room.
  /full\b|\b(?:(?:over)?quota|maximum|storage|disk|space|exceed\w*|limit(?:s|ed)?|too (?:large|big)|size)\b/,
  /\b(?:voll|vol|llen[oa]|pleine?|pien[oa]|chei[oa]|cuota)\b/,
  // Its policy, and what it thinks of the sender.
  /\b(?:polic(?:y|ies)|prohibited|(?:not|un)[ -]?(?:allowed|permitted)|only|members?|subscribers?|restrict\w*|denied|banned|block\w*|(?:black|gr[ea]y|deny|reject)[ -]?list\w*|relaying|(?:to|open|no) relay|relay (?:access|denied|not)|unauthori[sz]ed|not authori[sz]ed|authenticat\w+|(?:start)?tls|encrypt\w*)\b/,
  /\b(?:spam\w*|unsolicited|junk|bulk|reputation|suspicious|complaints?|abus\w+|virus\w*|malware|phish\w*|filter\w*|quarantin\w+|content|spf|dkim|dmarc)\b/,
  /\b(?:verif\w+|sender (?:address|domain|ip|callout|is|not|rejected)|sending (?:address|domain|host|ip|limit|mta|rate|server)|client host|your (?:ip|host|server|domain|network)|helo|ehlo|reverse dns|ptr)\b/,
  // Its own faults.
  /\b(?:(?:internal|configuration|system|server|database|lookup) (?:error|failure|problem)|misconfigur\w+|service (?:is )?(?:not available|unavailable)|backend|ldap|connect(?:ions?|ing)?)\b/,
];
/** Words of other languages, in any charset: nobody here knows what they say. */
const foreign = /[^\p{ASCII}\p{P}]/u;
/** Known in the name of a host, too. */
const blockLists =
  /spamhaus|spamcop|barracudacentral|sorbs|uceprotect|surbl|dnsbl|\brbl\b|black-?list|block-?list/;

/**
 * Whether an answer of a mail server, or the `Diagnostic-Code` of a report, says that the address does not exist. Its
 * codes outrank the `Status` of the report, and its words outrank both.
 */
export function isUnknownRecipient(answer: string, status = ''): boolean {
  const all = [...(answer.match(codes) ?? []), status].filter((code) => !unspecific.test(code));
  return all.length > 0 && all.every((code) => unknownRecipient.test(code)) && !hasOtherCause(answer);
}

function hasOtherCause(answer: string): boolean {
  if (temporary.test(answer)) return true;
  // The address may have any words in it.
  const words = answer
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => !word.includes('@'));
  if (words.some((word) => blockLists.test(word))) return true;
  const text = words.filter((word) => !/[^.]\.[^.]/.test(word)).join(' ');
  return foreign.test(text) || otherCauses.some((cause) => cause.test(text));
}
