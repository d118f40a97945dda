import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { root } from './paths.ts'
import { writePrivateFile } from './private-file.ts'
import type { DemoState } from './seed.ts'

const getDemoFile = (stateDir: string) => resolve(root, stateDir, 'demo.json')

/** Reads what earlier starts have seeded. It is empty when the database is gone. */
export async function readDemo(stateDir: string): Promise<DemoState> {
  const file = getDemoFile(stateDir)
  const hasData = existsSync(resolve(root, stateDir, 'v3', 'd1'))
  if (hasData && existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as DemoState
  return { seeded_at: Date.now(), made: {}, tokens: [], is_complete: false }
}

/** Only the owner may read the file, because it contains tokens. */
export const writeDemo = (stateDir: string, demo: DemoState): Promise<void> =>
  writePrivateFile(getDemoFile(stateDir), JSON.stringify(demo, null, 2))

/** Writes a shell file that sets the variables. Only its owner may read it, because it contains a token. */
export async function writeShell(stateDir: string, variables: readonly (readonly [string, string])[]): Promise<string> {
  const lines = variables.map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`)
  await writePrivateFile(resolve(root, stateDir, 'demo.sh'), `${lines.join('\n')}\n`)
  return join(stateDir, 'demo.sh')
}
