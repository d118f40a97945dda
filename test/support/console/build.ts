import { consoleProgram } from '../../../scripts/support/paths.ts'
import { startNode } from '../../../scripts/support/processes.ts'

/** Builds the console and the script of the API reference once for all servers of the slow tests. */
export async function setup(): Promise<void> {
  const { code, output } = await startNode([consoleProgram, '--if-changed']).ended
  if (code !== 0) throw new Error(output)
}
