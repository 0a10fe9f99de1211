/** What the dashboard reads of a request, except for its body. */
export type BrowserRequest = Pick<Request, 'method' | 'url'> & { headers: Pick<Headers, 'get'> };

/** The value of a cookie. If it appears twice, the first one, which has the longer path. */
export function cookieOf(request: BrowserRequest, name: string): string | undefined {
  const pairs = (request.headers.get('cookie') ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
