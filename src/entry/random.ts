export const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

/** From 0 up to 1, unpredictable. */
export const random = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32
