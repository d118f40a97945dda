/** Calls the function once this process is asked to end. Returns how to stop listening for npm, which keeps it alive. */
export function onQuit(quit: () => void): () => void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, quit)
  // npm passes no signal on when it is killed.
  const parent = process.ppid
  const watch = setInterval(() => process.ppid !== parent && process.env['npm_lifecycle_event'] && quit(), 1000)
  return () => clearInterval(watch)
}
