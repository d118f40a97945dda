/** Calls the function once this process is asked to end. Returns how to stop listening for npm, which keeps it alive. */
function onQuit(quit: () => void): () => void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, quit)
  // npm passes no signal on when it is killed.
  const parent = process.ppid
  const watch = setInterval(() => process.ppid !== parent && process.env['npm_lifecycle_event'] && quit(), 1000)
  return () => clearInterval(watch)
}

/** Runs a program, and aborts once this process is asked to end. An error before that is printed and ends it with 1. */
export async function runUntilQuit(quit: AbortController, main: () => Promise<void>): Promise<void> {
  const stopListening = onQuit(() => quit.abort())
  try {
    await main()
  } catch (error) {
    if (quit.signal.aborted) return
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  } finally {
    stopListening()
  }
}
