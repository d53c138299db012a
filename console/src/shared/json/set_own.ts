/** Set a member, also one that is called `__proto__`. */
export function setOwn(whole: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(whole, name, { value, enumerable: true, configurable: true, writable: true })
}
