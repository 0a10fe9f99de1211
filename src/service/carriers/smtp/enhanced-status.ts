/**
 * RFC 3463: the mailbox, its domain or its address does not exist, or the mailbox is closed. Not included: a full
 * mailbox, or a mail refused for its sender or content.
 */
const unknownRecipient = /^5\.(?:1\.(?:1|2|3|6|10)|2\.1)$/;

export const isUnknownRecipient = (status: string): boolean => unknownRecipient.test(status);
