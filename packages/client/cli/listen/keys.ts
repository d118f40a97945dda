interface KeyStream {
  isTTY?: boolean
  setRawMode?: (isRaw: boolean) => unknown
  on: (event: 'data', listener: (data: Buffer) => void) => unknown
  off: (event: 'data', listener: (data: Buffer) => void) => unknown
  resume: () => unknown
  pause: () => unknown
}

const endOfText = '\u0003'

/** Calls the action of each pressed key, on a terminal. Returns what ends that. */
export function watchKeys(
  actions: Readonly<Record<string, () => void>> & { q: () => void },
  stdin: KeyStream = process.stdin,
): () => void {
  if (stdin.isTTY !== true) return () => undefined
  const press = (data: Buffer) => {
    // Ctrl-C is an ordinary key while the terminal hands over single keys.
    for (const key of data.toString()) actions[key === endOfText ? 'q' : key.toLowerCase()]?.()
  }
  stdin.setRawMode?.(true)
  stdin.on('data', press)
  stdin.resume()
  return () => {
    stdin.off('data', press)
    stdin.setRawMode?.(false)
    stdin.pause()
  }
}
