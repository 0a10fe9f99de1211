export type Method = (...args: unknown[]) => unknown;

/** An object whose methods may be replaced; the others are those of `inner`, bound to it once. */
export function wrapped<Inner extends object>(
  inner: Inner,
  replace: (name: PropertyKey, method: Method) => Method | null,
): Inner {
  const methods = new Map<PropertyKey, Method>();
  return new Proxy(inner, {
    get(target, name) {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const bound = value.bind(target) as Method;
      const method = replace(name, bound) ?? bound;
      methods.set(name, method);
      return method;
    },
  });
}
