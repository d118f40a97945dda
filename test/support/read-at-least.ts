interface Reader {
  read: (view: Uint8Array, options: { min: number }) => Promise<unknown>
}

/** Adds the runtime's method of readers to Node, which has it under the standard name. */
export function addReadAtLeast(): void {
  Object.assign(ReadableStreamBYOBReader.prototype, {
    readAtLeast(this: Reader, min: number, view: Uint8Array) {
      return this.read(view, { min })
    },
  })
}
