import type { Attachment } from 'postal-mime';
import { wholeTextDecoder } from '../../contract/index.js';
import { type Group, groupsIn } from './fields.js';
import { isFeedbackType, isOriginalType } from './parse-mail.js';

/** A complaint about a mail (RFC 5965), with what may identify it as one of ours. */
export interface Complaint {
  /** Its envelope senders. */
  senders: readonly string[];
  /** Of its link to unsubscribe on a page of the service; empty without one. */
  token: string;
}

/** Of the mail in a report of Microsoft's, which may have no fields beside it. */
const outlookHeader = 'X-HmXmrOriginalRecipient';

export const isOfOutlook = (raw: Uint8Array): boolean =>
  Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).includes(`${outlookHeader}:`);

const contentOf = ({ content }: Attachment) => wholeTextDecoder('latin1').decode(content as ArrayBuffer);

/**
 * The complaint that a report makes; null for any other report, such as one that a mail is not spam. Some providers name
 * the sender, others only attach the mail or its headers.
 */
export function complaintIn(attachments: readonly Attachment[]): Complaint | null {
  const feedback = attachments.filter(({ mimeType }) => isFeedbackType(mimeType)).map(contentOf);
  const fields = feedback.flatMap(groupsIn);
  const original = attachments
    .filter(({ mimeType }) => isOriginalType(mimeType))
    .flatMap((each) => groupsIn(contentOf(each).trimStart()).slice(0, 1));
  const valuesOf = (groups: readonly Group[], name: string) => groups.flatMap((each) => each.get(name) ?? []);
  const types = valuesOf(fields, 'feedback-type').map((type) => type.replace(/\(.*$/s, '').trim());
  const isComplaint =
    feedback.length > 0
      ? types.length > 0 && types.every((type) => /^abuse$/i.test(type))
      : valuesOf(original, outlookHeader.toLowerCase()).length > 0;
  if (!isComplaint) return null;
  const named = [...valuesOf(fields, 'original-mail-from'), ...valuesOf(original, 'return-path')];
  return {
    senders: named.flatMap((value) => value.split(/[\s<>;,"]+/)).filter((word) => word.includes('@')),
    token: /\/u\/([\w-]+)>/.exec(valuesOf(original, 'list-unsubscribe').join(' '))?.[1] ?? '',
  };
}
