/** Functions of workerd that this Node does not have, for tests of the Worker in Node. */
const uint8Array: object = Uint8Array
if (!('fromBase64' in uint8Array)) {
  Object.assign(Uint8Array, { fromBase64: (text: string) => new Uint8Array(Buffer.from(text, 'base64')) })
  Object.assign(Uint8Array.prototype, {
    toBase64(this: Uint8Array, options?: { alphabet: 'base64url' }) {
      // In `base64url` Node leaves out the padding, as the sources ask for.
      return Buffer.from(this).toString(options?.alphabet ?? 'base64')
    },
    toHex(this: Uint8Array) {
      return Buffer.from(this).toString('hex')
    },
  })
}
