/** The configuration of the carriers breaks a rule. Nothing was opened. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly code = 'invalid_configuration';
}
