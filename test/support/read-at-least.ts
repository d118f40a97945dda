interface Reader {
  read: (view: Uint8Array, options: { min: number }) => Promise<unknown>
}

/** The runtime's method of readers, for tests in Node, which has the same under the name of the standard. */
export function addReadAtLeast(): void {
  Object.assign(ReadableStreamBYOBReader.prototype, {
    readAtLeast(this: Reader, min: number, view: Uint8Array) {
      return this.read(view, { min })
    },
  })
}
