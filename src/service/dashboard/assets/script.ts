/**
 * The only script of the pages, which also work without it. A live page receives its content whenever it changes;
 * only differences are replaced, so that focus, selection and open details remain. A hidden page closes its stream. A
 * stream that the browser gives up on, for example after a proxy's answer, is opened again; if its session is over,
 * the page says so.
 */
export const script = `(() => {
  const live = document.querySelector('[data-live]');
  const content = document.getElementById('content');
  const same = (a, b) => a && b && a.nodeName === b.nodeName && (a.id || '') === (b.id || '');
  const morph = (from, to) => {
    if (from.isEqualNode(to)) return;
    if (from.nodeType !== 1) { from.data = to.data; return; }
    for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && name !== 'open') from.removeAttribute(name);
    for (const { name, value } of to.attributes) if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    const ids = new Map([...from.children].filter((child) => child.id).map((child) => [child.id, child]));
    let at = from.firstChild;
    for (const child of [...to.childNodes]) {
      const known = child.id && ids.get(child.id);
      if (known && known !== at) from.insertBefore(known, at);
      else if (!known && !(same(at, child))) { from.insertBefore(child, at); continue; }
      const kept = known || at;
      at = kept.nextSibling;
      morph(kept, child);
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  };
  if (live && window.EventSource) {
    const word = live.textContent;
    let stream, later;
    const say = (isOn) => {
      live.hidden = false;
      live.classList.toggle('off', !isOn);
      const text = isOn ? word : live.dataset.off;
      if (live.textContent !== text) live.textContent = text;
    };
    const open = () => {
      stream = new EventSource(live.dataset.live);
      stream.onopen = () => say(true);
      stream.onerror = () => {
        say(false);
        if (stream.readyState < 2) return;
        later = setTimeout(open, 10_000);
        fetch(live.dataset.live, { method: 'HEAD' }).then(({ status }) => status === 401 && location.reload(), () => {});
      };
      stream.onmessage = ({ data }) => {
        const next = document.createElement('div');
        next.id = content.id;
        next.append(...new DOMParser().parseFromString(JSON.parse(data), 'text/html').body.childNodes);
        morph(content, next);
      };
      stream.addEventListener('end', () => location.reload());
    };
    const close = () => {
      clearTimeout(later);
      stream?.close();
    };
    const follow = () => {
      close();
      if (!document.hidden) open();
    };
    document.addEventListener('visibilitychange', follow);
    addEventListener('pagehide', close);
    addEventListener('pageshow', (event) => event.persisted && follow());
    follow();
  }
  for (const button of document.querySelectorAll('[data-copy]')) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.done;
    };
  }
})();
`;
