export * from './addresses.js';
export * from './base-url.js';
export * from './errors.js';
export * from './limits.js';
export * from './numbers.js';
export * from './parts.js';
export * from './recipients.js';
export * from './resources.js';
