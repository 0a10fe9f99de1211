// Writes examples/pickup-notices.csv and examples/customers.csv: the same files every time. Numbers of the range
// 9900 00xx are left out, because the simulated operator keeps them for faults.
import { writeFileSync } from 'node:fs';

const rows = 2_600;
const prefixes = [
  '99',
  '88',
  '91',
  '93',
  '95',
  '86',
  '96',
  '98',
  '94',
  '80',
  '90',
  '83',
  '85',
  '89',
  '92',
  '97',
];
const forms = [
  (number) => number,
  (number) => number,
  (number) => `${number.slice(0, 4)} ${number.slice(4)}`,
  (number) => `${number.slice(0, 4)}-${number.slice(4)}`,
  (number) => `+976${number}`,
  (number) => `+976 ${number.slice(0, 4)} ${number.slice(4)}`,
];
const mongolian = {
  greeting: 'Сайн байна уу',
  notices: [
    'Таны захиалга ирлээ. Та маргааш 18 цагаас өмнө салбараас авна уу.',
    'Таны илгээмж хадгалагдаж байна. Бичиг баримттайгаа ирж авна уу.',
  ],
  names: (
    'Бат Болд Дорж Ганбаатар Гантулга Ганзориг Энхбаяр Энхтуяа Энхжаргал Оюун Оюунчимэг Сарантуяа Саруул ' +
    'Цэцэг Цэцэгмаа Нарантуяа Наранцэцэг Мөнхбат Мөнхцэцэг Мөнхжин Өлзий Өнөрбаяр Үүрийнтуяа Үнэнбат ' +
    'Тэмүүлэн Тэмүүжин Төгөлдөр Төмөр Бямбаа Даваа Мягмар Лхагва Пүрэв Баасан Номин Анужин Ариунаа ' +
    'Алтанцэцэг Батбаяр Батжаргал Баярмаа Болормаа Чимэг Дэлгэрмаа Эрдэнэ Хулан Хонгорзул Золзаяа ' +
    'Уранчимэг Солонго Отгонбаяр Пагма Сүхбат Содном Жаргал Ихбаяр Идэр Зоригт Амар Амарбаясгалан ' +
    'Билгүүн Билэгт Галбадрах Гэрэл Мандах Нандин Нямдорж Одгэрэл Очир Рэнцэн Сэргэлэн Түвшин Учрал ' +
    'Хатанбаатар Цогт Чинзориг Чулуун Шинэбаяр Эгшиглэн Юмжаа Ялалт Янжмаа Тунгалаг Туул Ундрах Хишиг ' +
    'Цолмон Мишээл Марал Маргад Лувсан Жавхлан Есүй Дөлгөөн Давааням'
  ).split(' '),
};
const english = {
  greeting: 'Hello',
  notices: [
    'Your parcel has arrived. Please pick it up before 18:00 tomorrow; bring your ID card.',
    'Your order is waiting at the counter. We keep it for seven days from today.',
  ],
  names: (
    'Anna Ben Clara David Emma Frank Grace Henry Irene Jack Kate Leo Maria Noah Olivia Paul Quinn Rosa Sam ' +
    'Tina Uma Victor Wendy Xavier Yara Zoe Alice Bruno Carlos Diana Erik Fiona George Hannah Ivan Julia ' +
    'Kevin Laura Martin Nina Oscar Petra Ralf Sofia Thomas Ursula Vera Walter Yuki Zara'
  ).split(' '),
};

let state = 20_250_101;
/** A whole number below `limit`, from a small generator that never changes. */
function below(limit) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

const taken = new Set();
function newNumber() {
  for (;;) {
    const number = prefixes[below(prefixes.length)] + String(below(1_000_000)).padStart(6, '0');
    if (taken.has(number) || number.startsWith('990000')) continue;
    taken.add(number);
    return number;
  }
}

function write(name, lines) {
  writeFileSync(new URL(`../examples/${name}.csv`, import.meta.url), `${lines.join('\n')}\n`);
}

const notices = ['phone,name,greeting,notice'];
for (let row = 0; row < rows; row += 1) {
  const { greeting, notices: texts, names } = below(10) < 7 ? mongolian : english;
  // One row in sixteen is for a name that hardly anyone shares, such as a child with a parent's name.
  const name =
    below(16) === 0
      ? `${names[below(names.length)]} ${names[below(names.length)]}`
      : names[below(names.length)];
  const notice = texts[below(texts.length)];
  notices.push(`${forms[below(forms.length)](newNumber())},${name},${greeting},${notice}`);
}
write('pickup-notices', notices);

const customers = ['name,phone,amount'];
for (let row = 0; row < 100; row += 1) {
  const name = mongolian.names[below(mongolian.names.length)];
  customers.push(`${name},${forms[below(forms.length)](newNumber())},${(below(195) + 5) * 500}`);
}
write('customers', customers);
