/** Says nothing but that it failed. */
const unspecific = /^(?:5\.[01345]\.0)?$/;
/** Also `#5.1.1` and `(5.1.1)`, but no IP address. */
const codes = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?!\.?\d)/g;
/** At the begin of an answer, or of one that is quoted: the mailbox may exist later. */
const temporary = /(?:^|[;:])\s*4\d\d[ -]/;

const isNotThere = '(?:unknown|not (?:found|known|valid|recogni[sz]ed)|invalid|non ?exist[ae]nt|undefined)';
const unknownKind =
  '(?:unknown|no such|not an? (?:known|valid|local)|invalid|bad|illegal|undefined|unrecogni[sz]ed|non ?exist[ae]nt|unroute?able)';
const mailboxUnknown = [
  `\\b${unknownKind}(?: or \\w+)?(?: (?:virtual|local|remote|destination|recipient|mail|e ?mail)){0,3} WHOM\\b`,
  `\\bWHOM (?:is |was )?(?:marked as )?${isNotThere}\\b`,
  '\\bWHOM(?: \\S+){0,6}? (?:(?:does not|doesnt|do not|no longer) exists?|doesnt have an? (?:\\S+ )?account)\\b',
  '\\bno (?:mail ?box|user|account|one)(?: here)? (?:by|with|of) that name\\b',
  '\\b(?:user|recipient)(?: \\S+){0,6}? (?:not|no longer) (?:at|on) (?:this )?server\\b',
  '\\bnot (?:listed in domino directory|our (?:customer|user))\\b',
  '(?:пользователь|адресат|получатель|ящик|адрес) не (?:найден|существует)|(?:нет такого|неизвестный) (?:пользовател|адрес|ящик)',
  '(?:хэрэглэгч|хаяг|хайрцаг) (?:олдсонгүй|байхгүй|бүртгэлгүй)',
].join('|');
const domainUnknown =
  '\\b(?<!your )(?:host|domain)(?: name)? (?:unknown|not found|does not exist)\\b|\\b(?:no such|non ?exist[ae]nt) domain\\b';

/** Without a code that says whose fault it is: `550 User unknown`, but no `address` of a server. */
const addressee =
  '(?:(?:user|mail ?box|recipient|addressee|account|alias|inbox|local part|subscriber)(?: name)?|(?:recipient|destination|e ?mail) address)';
const withoutCode = new RegExp(
  `${mailboxUnknown.replaceAll('WHOM', addressee)}|\\bunroute?able (?:mail |e ?mail )?address\\b`,
);
const refusal = /(?:^|[\s;:'])55[0134][ -]/;

const coded =
  '(?:user|mail ?box|recipient|addressee|address|account|alias|inbox|local part|person|subscriber)(?: name)?';
/**
 * What servers say with a code (RFC 3463) of an address that does not exist, without signs: they give the code for other
 * causes, too. Not included: a mailbox that is full, or a mail refused for its sender or content.
 */
const saidWithCode: readonly [code: RegExp, words: RegExp][] = [
  [
    /^5\.1\.(?:1|2|3|6|10|351)$/,
    // At last a server that says nothing else, perhaps in the words of the one before it.
    new RegExp(
      `${mailboxUnknown.replaceAll('WHOM', coded)}|${domainUnknown}|\\brequested action not taken mailbox unavailable$|(?:^|\\bsaid )unknown$`,
    ),
  ],
  // Exchange, which knows the addresses of its customers.
  [/^5\.4\.1$/, /\brecipient address rejected access denied\b/],
  [/^5\.4\.(?:4|310)$/, new RegExp(domainUnknown)],
  [
    /^5\.7\.13$/,
    /\b(?<!your )(?:user|mail ?box|recipient|account|address)(?: \S+){0,3}? (?:disabled|deactivated)\b/,
  ],
];
/** Codes that need no words. */
const needsNoWords = /^5\.1\.(?:1|2|3|6|10)$/;
/** The same in the names of errors, which look like hosts. */
const unknownNames = /resolver\.adr\.(?:ex)?recip(?:ient)?notfound|[?&]p=nosuchuser\b/;
/** It speaks of the sender, whose server it asked, or names another cause as well. */
const otherCause =
  /\b(?:senders?|call ?(?:out|back)|verif(?:y|ication) failed|rate|quota|full|disk|space|polic(?:y|ies)|spam\w*|blocked|(?:black|block) ?list\w*|later|temporar\w+|malformed|unexpected|requested type|try again)\b/;
/** Words for a login, a relay or its address, to which no code is needed either. */
const otherCauseWithoutCode =
  /\b(?:authenti\w+|password|log ?in|credentials?|relay(?:ing)? (?:access|denied|not)|helo|ehlo|reverse|ptr|client|ip|spf|dkim|dmarc|reputation|denied|disabled|suspended|inactive|your (?:account|address|domain|host|mail ?box|server|user))\b/;
const blockLists = /spamhaus|spamcop|sorbs|dnsbl|\brbl|surbl|uribl/;

/** The codes that say why; those of an answer outrank the `Status` of its report. */
const tellingCodes = (answer: string, status: string) =>
  [...(answer.match(codes) ?? []), status].filter((code) => !unspecific.test(code));

/** The first code that says why, else the status. */
export const codeOfAnswer = (answer: string, status: string): string =>
  tellingCodes(answer, status)[0] ?? status;

/**
 * Whether an answer of a mail server, or the `Diagnostic-Code` of a report, says that the address does not exist. Its
 * codes outrank the `Status` of the report, and if it has words, they must say so, too.
 */
export function isUnknownRecipient(answer: string, status = ''): boolean {
  const all = tellingCodes(answer, status);
  if (temporary.test(answer) || blockLists.test(answer.toLowerCase())) return false;
  // The address may have any words in it.
  const written = answer
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => !word.includes('@'));
  if (!/\p{L}/u.test(written.join())) return all.length > 0 && all.every((code) => needsNoWords.test(code));
  if (written.some((word) => unknownNames.test(word))) return all.every((code) => needsNoWords.test(code));
  const text = written
    .filter((word) => !/[^.]\.[^.]/.test(word))
    .join(' ')
    .replace(/['’]/g, '')
    .match(/\p{L}+/gu);
  const said = text?.join(' ') ?? '';
  if (otherCause.test(said)) return false;
  if (all.length === 0)
    return refusal.test(answer) && !otherCauseWithoutCode.test(said) && withoutCode.test(said);
  return all.every((code) => saidWithCode.some(([known, sayings]) => known.test(code) && sayings.test(said)));
}
