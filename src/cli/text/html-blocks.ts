/** A part of an HTML text. */
export interface HtmlPart {
  text: string;
  /** Whose content it is; null for what is outside of them. */
  of: 'style' | 'script' | 'comment' | null;
}

/** `<!--[if mso]>`, whose content Outlook shows; a comment without content begins no block either. */
const noComment = /<!--(?:\[if\b[^\]<>]{0,200}\]>|-?>)/iy;

/** The contents of `<style>`, `<script>` and comments, and what is between them; together they are the text. */
export function htmlParts(html: string): HtmlPart[] {
  const parts: HtmlPart[] = [];
  const unclosed = new Set<string>();
  let done = 0;
  const begin = /<!--|<(style|script)(?=[\s/>])/gi;
  for (let match = begin.exec(html); match !== null; match = begin.exec(html)) {
    const of = (match[1]?.toLowerCase() ?? 'comment') as 'style' | 'script' | 'comment';
    noComment.lastIndex = match.index;
    if (unclosed.has(of) || (of === 'comment' && noComment.test(html))) continue;
    const from = of === 'comment' ? begin.lastIndex : html.indexOf('>', begin.lastIndex) + 1;
    const close = closes[of];
    close.lastIndex = from;
    const end = from === 0 ? -1 : (close.exec(html)?.index ?? -1);
    if (end === -1) {
      unclosed.add(of);
      continue;
    }
    parts.push({ text: html.slice(done, from), of: null }, { text: html.slice(from, end), of });
    done = end;
    begin.lastIndex = end;
  }
  parts.push({ text: html.slice(done), of: null });
  return parts;
}

const closes = { style: /<\/style/gi, script: /<\/script/gi, comment: /--!?>/g } as const;
