import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { root } from './paths.ts'
import type { DemoState } from './seed.ts'

const fileOf = (stateDir: string) => resolve(root, stateDir, 'demo.json')

/** What earlier starts have seeded; nothing when the database is gone. */
export async function readDemo(stateDir: string): Promise<DemoState> {
  const file = fileOf(stateDir)
  const hasData = existsSync(resolve(root, stateDir, 'v3', 'd1'))
  if (hasData && existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as DemoState
  return { seeded_at: Date.now(), made: {}, tokens: [], is_complete: false }
}

/** It holds tokens, so only its owner may read it. */
export async function writeDemo(stateDir: string, demo: DemoState): Promise<void> {
  const file = fileOf(stateDir)
  await mkdir(resolve(file, '..'), { recursive: true, mode: 0o700 })
  await writeFile(`${file}.new`, JSON.stringify(demo, null, 2), { mode: 0o600 })
  await rename(`${file}.new`, file)
}

/** A file for a shell to read, by its path from here; of its owner alone, as it holds a token. */
export async function writeShell(stateDir: string, variables: readonly (readonly [string, string])[]): Promise<string> {
  const lines = variables.map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`)
  await writeFile(resolve(root, stateDir, 'demo.sh'), `${lines.join('\n')}\n`, { mode: 0o600 })
  return join(stateDir, 'demo.sh')
}
