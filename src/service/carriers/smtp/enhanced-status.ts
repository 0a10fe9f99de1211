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

const whom =
  '(?:user|mail ?box|recipient|addressee|address|account|alias|inbox|local part|person|subscriber)(?: name)?';
const isNotThere = '(?:unknown|not (?:found|known|valid|recogni[sz]ed)|invalid|non ?exist[ae]nt|undefined)';
/** What servers say of an address that does not exist, without signs: they give its code for other causes, too. */
const unknownWords = new RegExp(
  [
    `\\b(?:unknown|no such|not an? (?:known|valid|local)|invalid|bad|illegal|undefined|unrecogni[sz]ed|non ?exist[ae]nt|unroute?able)(?: or \\w+)?(?: (?:virtual|local|remote|destination|recipient|mail|e ?mail)){0,3} ${whom}\\b`,
    `\\b${whom} (?:is |was )?(?:marked as )?${isNotThere}\\b`,
    `\\b${whom}(?: \\S+){0,6}? (?:(?:does not|doesnt|do not|no longer) exists?|doesnt have an? (?:\\S+ )?account)\\b`,
    `\\bno (?:mail ?box|user|account|one)(?: here)? (?:by|with|of) that name\\b`,
    `\\b(?:user|recipient)(?: \\S+){0,6}? (?:not|no longer) (?:at|on) (?:this )?server\\b`,
    `\\bnot (?:listed in domino directory|our (?:customer|user))\\b`,
    `\\b(?<!your )(?:host|domain)(?: name)? (?:unknown|not found|does not exist)\\b|\\bno such domain\\b`,
    `\\brequested action not taken mailbox unavailable$`,
    // A server that says nothing else, perhaps in the words of the one before it.
    `(?:^|\\bsaid )unknown$`,
    `(?:пользователь|адресат|получатель|ящик|адрес) не (?:найден|существует)|(?:нет такого|неизвестный) (?:пользовател|адрес|ящик)`,
    `(?:хэрэглэгч|хаяг|хайрцаг) (?:олдсонгүй|байхгүй|бүртгэлгүй)`,
  ].join('|'),
);
/** The same in the names of errors, which look like hosts. */
const unknownNames = /resolver\.adr\.(?:ex)?recip(?:ient)?notfound|[?&]p=nosuchuser\b/;
/** It speaks of the sender, whose server it asked, or names another cause as well. */
const otherCause =
  /\b(?:senders?|call ?(?:out|back)|verif(?:y|ication) failed|rate|quota|full|disk|space|polic(?:y|ies)|spam\w*|blocked|(?:black|block) ?list\w*|later|temporar\w+)\b/;

/**
 * Whether an answer of a mail server, or the `Diagnostic-Code` of a report, says that the address does not exist. Its
 * codes outrank the `Status` of the report, and if it has words, they must say so, too.
 */
export function isUnknownRecipient(answer: string, status = ''): boolean {
  const all = [...(answer.match(codes) ?? []), status].filter((code) => !unspecific.test(code));
  if (all.length === 0 || !all.every((code) => unknownRecipient.test(code)) || temporary.test(answer))
    return false;
  // The address may have any words in it.
  const words = answer
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => !word.includes('@'));
  if (!/\p{L}/u.test(words.join())) return true;
  if (words.some((word) => unknownNames.test(word))) return true;
  const text = words
    .filter((word) => !/[^.]\.[^.]/.test(word))
    .join(' ')
    .replace(/['’]/g, '')
    .match(/\p{L}+/gu);
  const said = text?.join(' ') ?? '';
  return !otherCause.test(said) && unknownWords.test(said);
}
