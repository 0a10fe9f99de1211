/** Bundlers take it in as text. */
declare module '*.sql' {
  const text: string;
  export default text;
}
