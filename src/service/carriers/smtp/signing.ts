import DKIM from 'nodemailer/lib/dkim';

/** A domain with signed emails; its key is published under `selector`. */
export interface SigningKey {
  domain: string;
  selector: string;
  /** PEM. */
  privateKey: string;
}

/** The fields that nodemailer signs and our mails can have, and the one that RFC 8058 requires. */
const signedFields = [
  'From',
  'Reply-To',
  'Subject',
  'Date',
  'Message-ID',
  'To',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Auto-Submitted',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
].join(':');

/** The mail with its DKIM-Signature in front. */
export async function signMail(mail: Buffer, { domain, selector, privateKey }: SigningKey): Promise<Buffer> {
  const signer = new DKIM({
    domainName: domain,
    keySelector: selector,
    privateKey,
    headerFieldNames: signedFields,
  });
  const pieces: Buffer[] = [];
  for await (const piece of signer.sign(mail)) pieces.push(piece as Buffer);
  const signed = Buffer.concat(pieces);
  if (signed.length <= mail.length) throw new Error('it could not be signed');
  return signed;
}
