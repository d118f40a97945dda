import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

export interface StoredState<State> {
  read: () => Promise<State | null>
  write: (state: State) => Promise<void>
  remove: () => Promise<void>
}

const stateFolder = (): string => join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'ecm')

/** The state with which a command goes on after an interruption, under the parts of its key. */
export function openState<State>(command: string, key: readonly string[]): StoredState<State> {
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 32)
  const path = join(stateFolder(), command, `${name}.json`)
  return {
    read: async () => {
      try {
        return JSON.parse(await readFile(path, 'utf8')) as State
      } catch {
        return null
      }
    },
    write: async (state) => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const draft = `${path}.${process.pid}`
      await writeFile(draft, `${JSON.stringify(state)}\n`, { mode: 0o600 })
      await rename(draft, path)
    },
    remove: () => rm(path, { force: true }),
  }
}
