import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const program = join(import.meta.dirname, '..', 'bin', 'ecm.js')

interface Settings {
  env?: Record<string, string>
  stdin?: string
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A person with an empty home, who calls `ecm` in an empty folder. */
export function makePerson() {
  const folder = mkdtempSync(join(tmpdir(), 'ecm-'))
  const run = async (args: readonly string[], { env = {}, stdin = '' }: Settings = {}): Promise<Ended> => {
    const home = { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), NO_COLOR: '1' }
    // The project declares its own variables as required.
    const environment = { ...home, ...env } as Partial<NodeJS.ProcessEnv> as NodeJS.ProcessEnv
    const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: environment })
    child.stdin.end(stdin)
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ])
    return { code, stdout, stderr }
  }
  return { folder, run, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
