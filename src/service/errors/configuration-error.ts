/** The carriers' configuration is invalid. Nothing was opened. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly code = 'invalid_configuration';
}

/** `permission denied`, from an error of the file system. */
export const reasonOf = ({ message }: Error): string => /^[A-Z0-9]+: ([^,]+)/.exec(message)?.[1] ?? message;
