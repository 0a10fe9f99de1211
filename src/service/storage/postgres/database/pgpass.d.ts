/** The driver brings it, without types. */
declare module 'pgpass' {
  interface PasswordFile {
    /** The password for a connection; undefined if the file has none. */
    (connection: object, found: (password: string | undefined) => void): void;
    /** The stream for warnings; null for none. */
    warnTo(stream: NodeJS.WritableStream | null): void;
  }
  const pgpass: PasswordFile;
  export default pgpass;
}
