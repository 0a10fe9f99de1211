/**
 * Counts an SMS, and says what it and an email cost, as one types. The alphabets, the sizes of parts and the prices stand on
 * the page; without this script the preview counts.
 */
export const counter = `(() => {
  const line = document.getElementById('text-hint');
  const text = document.getElementById('text');
  const to = document.getElementById('to');
  const { one, two, sizes, prices, latin, cyrillic, email } = text.dataset;
  const count = () => {
    const many = new Set(to.value.split(/[\\n,;\\t]/).map((each) => each.trim()).filter(Boolean)).size || 1;
    const costs = prices.split(' ');
    let parts = 1, units = 0, words = email;
    if (!email) {
      for (const each of text.value) units += one.includes(each) ? 1 : two.includes(each) ? 2 : NaN;
      words = latin;
      let [size, wide] = sizes.split(' ');
      if (isNaN(units)) [units, size, words] = [text.value.length, wide, cyrillic];
      parts = Math.ceil(units / size);
    }
    const cost = parts ? costs[parts - 1] * many : 0;
    line.textContent = words.replace(/\\{(\\w+)\\}/g, (_, name) =>
      ({ parts: parts + '/' + costs.length, units, credits: isNaN(cost) ? '–' : String(cost).replace(/\\B(?=(\\d{3})+$)/g, ',') })[name]);
  };
  for (const field of [to, text]) field.oninput = count;
  onpageshow = count;
  count();
})();
`;
