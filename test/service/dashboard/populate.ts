import type { ManualClock, Service } from '../../../src/service/index.js';

type Call = (path: string, body: object) => Promise<{ id: string }>;

const hour = 3_600_000;

export const hostile = {
  text: '<script>alert(1)</script><img src=x onerror="alert(1)"> {name} $',
  subject: '"><svg/onload=alert(1)>',
  html: '<h1 style="color:#2f5bd3">Сар шинийн мэнд</h1><p>Таны захиалга <b>№ 1042</b> бэлэн боллоо.</p><script>parent.alert(1);top.location="https://example.com"</script><img src="https://example.com/pixel.gif" onerror="parent.alert(1)"><form action="https://example.com"><button>x</button></form><meta http-equiv="refresh" content="0;url=https://example.com">',
  label: '<b onmouseover=alert(1)>deploy</b>',
  brand: "Gobi & Sons </title><script>alert('brand')</script>",
};

/** A day of a project until 15:00: sends of every outcome, a batch, keys, settings, hostile texts in every field. */
export async function populate(service: Service, clock: ManualClock, call: Call) {
  const { administration } = service;
  const now = clock.now();
  clock.set(now - 15 * hour);
  const settle = () => administration.idle();
  const { id: key } = await administration.createKey({ label: 'billing' });
  const old = await administration.createKey({ label: hostile.label });
  await administration.revokeKey(old.id);
  await administration.credit(25_000);
  for (const [index, sends] of [0, 0, 0, 1, 2, 2, 5, 14, 22, 31, 24, 18, 12, 20, 27].entries()) {
    clock.set(now - (15 - index) * hour);
    const to = Array.from(
      { length: sends },
      (_, place) => `9911${String(index * 40 + place).padStart(4, '0')}`,
    );
    if (sends > 0) await call('/sms/bulk', { to, text: `Таны захиалга № ${1000 + index} бэлэн боллоо.` });
    if (index % 5 === 4) await call('/sms', { to: '99000001', text: 'Refused' });
    await settle();
  }
  clock.set(now - hour / 2);
  const ids: Record<string, string> = { key };
  const keep = async (name: string, path: string, body: object) => {
    ids[name] = (await call(path, body)).id;
  };
  /** Until a receipt has come. */
  const isRead = async (
    path: string,
    isReported: (read: { delivery: unknown; unknown: unknown }) => boolean,
  ) => {
    for (;;) {
      const answer = await service.fetch(`http://embedded.invalid/v1${path}`, {
        headers: { authorization: `Bearer ${service.localKey}` },
      });
      if (isReported((await answer.json()) as { delivery: unknown; unknown: unknown })) return;
      await new Promise(setImmediate);
    }
  };
  await keep('hostile', '/sms', { to: '88112233', text: hostile.text });
  await keep('cleaned', '/sms', {
    to: '91112233',
    text: 'Дэлгэрэнгүй: https://example.mn/zahialga/1042 Баярлалаа',
  });
  await keep('delivered', '/sms', { to: '99000021', text: 'Сайн уу' });
  await keep('undelivered', '/sms', { to: '99000022', text: 'Hello' });
  await call('/verify', { to: '99112234' });
  await keep('email', '/email', {
    to: 'bat@example.mn',
    subject: hostile.subject,
    html: hostile.html,
    text: 'Таны захиалга № 1042 бэлэн боллоо.',
    from_name: hostile.brand,
  });
  await call('/email', { to: 'fault-refused@example.mn', subject: 'Нэхэмжлэх', text: 'Сайн уу' });
  await settle();
  // The receipts come.
  clock.advance(3_000);
  for (const name of ['delivered', 'undelivered'])
    await isRead(`/messages/${ids[name]}`, ({ delivery }) => delivery !== null);
  clock.set(now - 60_000);
  const many = Array.from({ length: 180 }, (_, place) => `8611${String(place).padStart(4, '0')}`);
  await keep('batch', '/sms/bulk', {
    to: [...many, '99000001', '99000023'],
    text: 'Маргааш 10 цагаас хямдрал эхэлнэ.',
  });
  await settle();
  clock.advance(3_000);
  await isRead(`/batches/${ids.batch}`, ({ unknown }) => unknown === 1);
  await administration.settings.update({
    brand_name: hostile.brand,
    reply_to: 'info@example.mn',
    own_domain: 'shop.mn',
    holidays: { '2026-12-29': 1.5, '2027-01-01': 2 },
  });
  const mail = `From: Bat <bat@example.mn>\r\nTo: info@shop.mn\r\nSubject: ${hostile.subject}\r\n\r\n${hostile.text}\r\n`;
  await administration.receiveMail(Buffer.from(mail), ['info@shop.mn']);
  clock.set(now);
  await settle();
  return ids;
}
