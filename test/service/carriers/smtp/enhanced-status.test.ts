import { describe, expect, it } from 'vitest';
import { isUnknownRecipient } from '../../../../src/service/carriers/smtp/enhanced-status.js';
import { cpuTime } from '../../../support/cpu-time.js';

/** Answers in the manner of large servers: what they say, and the `Status` of a report with it. */
describe('an answer', () => {
  it.each<[server: string, answer: string, status?: string]>([
    [
      'Gmail',
      '550-5.1.1 This account does not exist. Look for typing errors or 550-5.1.1 unnecessary spaces. 550 5.1.1 https://support.google.com/mail/?p=NoSuchUser a1-b2c3.4 - gsmtp',
    ],
    [
      'Microsoft',
      '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient bold@example.com not found by SMTP address lookup',
    ],
    ['Microsoft', '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found', '5.1.1'],
    [
      'Yahoo',
      '554 delivery error: dd No such account here (bold@example.com) [0] - mta1.mail.example',
      '5.1.1',
    ],
    ['Yahoo', '552 1 Requested mail action aborted, mailbox not found', '5.1.1'],
    [
      'Postfix',
      '550 5.1.1 <bold@example.com>: Recipient address rejected: User unknown in virtual mailbox table',
    ],
    [
      'Postfix',
      '550 5.1.1 <bold@example.com>: Recipient address rejected: User unknown in relay recipient table',
    ],
    ['Postfix', 'unknown user: "bold"', '5.1.1'],
    [
      'Postfix',
      'Host or domain name not found. Name service error for name=example.com type=A: Host not found',
      '5.1.2',
    ],
    [
      'Postfix',
      'host spam-filter.example.com[192.0.2.4] said: 550 5.1.1 <full.quota@example.com>: unknown',
      '5.0.0',
    ],
    ['Exim', '550 5.1.1 Unrouteable address'],
    ['Barracuda', 'host d1.ess.barracudanetworks.com[192.0.2.4] said: 550 5.1.1 User unknown', '5.1.1'],
    ['Sendmail', '550 5.1.1 <bold@example.com>... User unknown', '5.1.1'],
    ['Sendmail', '553 5.3.0 <bold@example.com>... User unknown', '5.1.1'],
    ['Microsoft', '550 5.5.0 Requested action not taken: mailbox unavailable', '5.1.1'],
    ['other', '550 5.1.1 <бат@пример.рф>: user “бат@пример.рф” unknown'],
    ['IronPort', '550 #5.1.1 Address unknown bold@example.com', '5.0.0'],
    ['Zimbra', '553 (5.1.3) no such mailbox', ''],
    ['Domino', '550 bold@example.com... No such user', '5.1.1'],
    ['Domino', '550 5.1.1 User bold (bold@example.com) not listed in Domino Directory'],
    ['qmail', '550 sorry, no mailbox here by that name (#5.1.1)', '5.0.0'],
    ['Yahoo', "554 delivery error: dd This user doesn't have a yahoo.com account (bold@yahoo.com)", '5.1.1'],
    ['Apple', '550 5.1.1 <bold@icloud.com>: user does not exist'],
    ['Zoho', '550 5.1.1 User does not exist - <bold@example.com>'],
    [
      'Facebook',
      '550 5.1.1 RCP-P1 http://postmaster.example.com/codes?ip=192.0.2.54#rcp Recipient address does not exist',
    ],
    ['Orange', '550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]'],
    ['NetEase', '554 5.1.1 <bold@163.com>: Recipient address rejected: User not found'],
    ['Sina', '550 5.1.1 Recipient <bold@sina.com> does not exist or is disabled'],
    ['SoftBank', '550 Invalid recipient: <bold@example.jp>', '5.1.1'],
    [
      'Mail.ru',
      '550 Message was not accepted -- invalid mailbox. Local mailbox bold@mail.ru is unavailable: user not found',
      '5.1.1',
    ],
    ['Sendmail', '551 not our customer', '5.1.6'],
    ['Sendmail', '550 Host unknown', '5.1.2'],
    ['Postfix', '550 5.1.2 <bold@nowhere.mn>: Recipient address rejected: Domain not found'],
    ['other', '550 5.1.6 Recipient no longer on server: bold@example.com'],
    ['other', '550 5.1.1 The user you are trying to contact is not at this server'],
    ['other', '550 5.1.1 unknown or illegal alias: bold@example.com'],
    ['other', '550 5.1.1 User email address is marked as invalid.'],
    ['other', '550 5.1.1 Нет такого пользователя'],
    ['other', '550 5.1.1 Хэрэглэгч олдсонгүй'],
    ['other', '550 5.1.1 <bold@example.com>'],
    ['a report without an answer', '', '5.1.1'],
  ])('means that the address does not exist: %s: %s (%s)', (_, answer, status) => {
    expect(isUnknownRecipient(answer, status)).toBe(true);
  });

  it.each<[server: string, answer: string, status?: string]>([
    [
      'Gmail',
      '550-5.2.1 This account is inactive. 550 5.2.1 https://support.google.com/mail/?p=DisabledUser - gsmtp',
    ],
    [
      'Gmail',
      '550-5.2.1 The user you write to is receiving mail at a rate that 550-5.2.1 keeps more from being delivered. 550 5.2.1 https://support.google.com/mail/?p=ReceivingRatePerm - gsmtp',
    ],
    [
      'Gmail',
      '552-5.2.2 This account is over quota. 552 5.2.2 https://support.google.com/mail/?p=OverQuotaPerm - gsmtp',
      '5.1.1',
    ],
    ['Gmail', '550-5.7.1 Likely unsolicited mail. 550 5.7.1 - gsmtp', '5.1.1'],
    ['Gmail', '450-4.2.1 Receiving mail too quickly', '5.2.1'],
    ['Microsoft', '550 5.7.606 Access denied, banned sending IP [192.0.2.1]', '5.1.1'],
    ['Microsoft', '550 5.4.1 Recipient address rejected: Access denied. AS(201806281)', '5.4.1'],
    ['Microsoft', '550 5.1.8 Access denied, bad outbound sender', '5.1.8'],
    ['Microsoft', '550 5.2.1 Content Filter agent quarantined this message', '5.2.1'],
    ['Microsoft', '550 5.2.2 STOREDRV.Deliver; mailbox full', '5.2.2'],
    ['Microsoft', '550 5.1.10 Reputation of 192.0.2.1 is too low', '5.1.10'],
    ['Yahoo', '554 5.7.9 Message not accepted for policy reasons', '5.1.1'],
    ['Yahoo', '554 delivery error: dd bold@example.com is over quota', '5.1.1'],
    ['Yahoo', '421 4.7.0 [TSS04] Messages from 192.0.2.1 deferred - 4.16.55.1', '5.1.1'],
    [
      'Postfix',
      '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
      '5.1.3',
    ],
    ['Postfix', '550 5.1.1 see https://www.spamhaus.org/query/ip/192.0.2.1', '5.1.1'],
    ['Postfix', '554 5.7.1 <bold@example.com>: Relay access denied', '5.1.1'],
    ['Postfix', 'cannot update mailbox /var/mail/bold: error writing message: disk quota exceeded', '5.1.1'],
    ['Postfix', 'host mx.example.com[192.0.2.4] said: 450 <bold@example.com>: greeted slowly', '5.1.1'],
    [
      'Exim',
      '550-Verification failed for <a@example.mn> 550-Response: 550 5.1.1 unknown 550 Sender verify failed',
    ],
    ['Exim', '550 5.1.1 too many recipients this hour', '5.1.1'],
    ['Exim', '550 5.1.1 mailbox is full: retry timeout exceeded', '5.1.1'],
    ['Sendmail', '550 5.1.1 No space left on device', '5.1.1'],
    ['IronPort', '550 #5.1.1 Your domain is blacklisted', '5.1.1'],
    ['qmail', '550 5.1.1 (#5.7.1) blacklisted'],
    ['other', '550 5.1.1 Try again later'],
    ...[
      'Postfach ist voll',
      'Почтовый ящик переполнен',
      'buz\u00f3n lleno',
      'buz\u00c3\u00b3n desbordado',
      'Boîte pleine',
      'メールボックスがいっぱいです',
      'inboxfull',
      'mailbox under maintenance',
      'please retry in 5 minutes',
      'Service unavailable, try again',
      'TLS required',
      'must issue a STARTTLS command first',
      'Cannot connect to backend, LDAP down',
      'Maximum number of connections reached',
      'Verification failed for <news@our.mn>',
      'you are not allowed to send mail to this address',
      'This mailbox receives mail only from members',
      // Of no list: only words that say it suppress.
      ...['Message rejected', 'message too long', 'try after some time', 'over allotment', 'no room left'],
      ...[
        'insufficient system resources',
        'I/O error',
        'Mail server is down',
        'no route to host',
        'DNS error',
      ],
      ...['mail for x loops back to myself', 'Not accepting mail from you', 'mailbox currently unavailable'],
      ...['Mailbox disabled', 'account suspended', 'account is locked', 'inactive email address'],
      ...['posta kutusu dolu', 'Postfach ueberfuellt', 'skrzynka przepelniona', 'boite saturee', 'HVU:B1'],
      ...['Refused due to recipient preferences', 'Sender rejected: user unknown', 'Address rejected'],
      ...['Called: 192.0.2.1, Response: User unknown. Sender verify failed', 'unknown error', 'greylisted'],
      ...[
        'User unknown or over quota',
        'your domain does not exist',
        'see https://lists.example.com/unknown',
      ],
    ].map((words): [string, string, string] => ['other', `550 5.1.1 ${words}`, '5.1.1']),
    ['Exchange', '550 5.2.1 Postfach deaktiviert', '5.1.1'],
    ['other', '550 5.7.0 not accepted', '5.1.1'],
    ['other', '553 5.3.0 unknown'],
    ['other', '553 5.3.0 unknown', '5.0.0'],
    ['other', '550 User unknown'],
    ['other', '550 5.1.1 unknown', '5.2.2'],
    ['other', '550 connect to 5.1.1.1 failed'],
    ['other', ''],
  ])('means something else: %s: %s (%s)', (_, answer, status) => {
    expect(isUnknownRecipient(answer, status)).toBe(false);
  });

  it.each(['5.1.1 ', ' ', ';', '4', 'a@', 'too ', 'time', '.'])(
    'of a megabyte of %j is read in no time',
    (piece) => {
      const begun = cpuTime();
      isUnknownRecipient(`550 ${piece.repeat(1_000_000 / piece.length)}`);
      expect(cpuTime() - begun).toBeLessThan(2_000);
    },
  );
});
