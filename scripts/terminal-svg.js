import stringWidth from 'string-width';

const cell = { width: 8.4, height: 20 };
const margin = 20;
const titleBar = 38;
const colours = {
  background: '#12161f',
  bar: '#1b2130',
  text: '#d7dce5',
  30: '#12161f',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79b8ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  37: '#d7dce5',
  90: '#8b94a5',
};

/** A terminal's screen, as `tmux capture-pane -e` prints it, as an SVG document of `columns` characters. */
export function terminalSvg(screen, { columns, title, description }) {
  const lines = screen.split('\n').map(runsOf);
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = titleBar + lines.length * cell.height + margin;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `<circle cx="${margin + 2 + at * 18}" cy="19" r="5.5" fill="${colour}"/>`,
  );
  const texts = lines.flatMap((runs, row) => runs.map((run) => textOf(run, row)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description)}</desc>`,
    `<rect width="${width}" height="${height}" rx="10" fill="${colours.background}"/>`,
    `<path d="M0 ${titleBar - 8}V10A10 10 0 0 1 10 0H${width - 10}A10 10 0 0 1 ${width} 10V${titleBar - 8}Z" fill="${colours.bar}"/>`,
    ...dots,
    `<g font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Stretches of one style without two spaces in a row, which SVG would draw as one: `{ text, column, codes }`. */
function runsOf(line) {
  const runs = [];
  let codes = new Set();
  let column = 0;
  for (const [, parameters, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (text === undefined) {
      codes = styled(codes, parameters.split(';').map(Number));
      continue;
    }
    for (const part of text.split(/( {2,})/)) {
      if (part.trim() !== '') runs.push({ text: part, column, codes });
      column += stringWidth(part);
    }
  }
  return runs;
}

function styled(before, parameters) {
  const codes = new Set(before);
  for (const code of parameters) {
    if (code === 0) codes.clear();
    else if (code === 39) for (const each of codes) each >= 30 && codes.delete(each);
    else if (code === 22) for (const each of [1, 2]) codes.delete(each);
    else if (code < 30 || code in colours) codes.add(code);
  }
  return codes;
}

/** `textLength` keeps the columns where a reader's font has another width. */
function textOf({ text, column, codes }, row) {
  const start = text.length - text.trimStart().length;
  const shown = text.trim();
  const attributes = {
    x: number(margin + (column + start) * cell.width),
    y: number(titleBar + (row + 0.75) * cell.height),
    textLength: number(stringWidth(shown) * cell.width),
    fill: colours[[...codes].find((code) => code >= 30)] ?? colours.text,
    ...(codes.has(1) && { 'font-weight': 'bold' }),
    ...(codes.has(2) && { opacity: 0.65 }),
  };
  const pairs = Object.entries(attributes).map(([name, value]) => `${name}="${value}"`);
  return `<text ${pairs.join(' ')}>${escaped(shown)}</text>`;
}

const number = (value) => Number(value.toFixed(1));

function escaped(text) {
  return text.replace(/[&<>]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[mark]);
}
