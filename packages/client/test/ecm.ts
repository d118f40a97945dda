import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

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

export interface Running {
  /** The text that it has printed on both streams. */
  output: () => string
  ended: Promise<number | null>
  press: (keys: string) => void
  kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<number | null>
}

/** Waits until the program shows the text behind a place, and returns the place behind the text. */
export async function waitForText({ output, ended }: Running, expected: string, from = 0): Promise<number> {
  const endsAt = performance.now() + 60_000
  for (let isEnded = false; ;) {
    const at = output().indexOf(expected, from)
    if (at !== -1) return at + expected.length
    if (isEnded || performance.now() > endsAt) throw new Error(`${expected} is missing in ${output()}`)
    isEnded = await Promise.race([ended.then(() => true), wait(50, false)])
  }
}

/** Runs a program on a pseudo-terminal, and ends with its exit code. A question needs the size of the terminal. */
const terminal = [
  'python3',
  '-c',
  'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))',
  'sh',
  '-c',
  'stty cols 120 rows 40; exec "$0" "$@"',
]

/** A person with an empty home, who calls `ecm` in an empty folder. */
export function makePerson() {
  const folder = mkdtempSync(join(tmpdir(), 'ecm-'))
  const startProgram = (words: readonly string[], env: Record<string, string>) => {
    const home = { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), NO_COLOR: '1' }
    // The project declares its own variables as required.
    const environment = { ...home, ...env } as Partial<NodeJS.ProcessEnv> as NodeJS.ProcessEnv
    const [file = '', ...args] = words
    return spawn(file, args, { cwd: folder, env: environment })
  }
  const run = async (args: readonly string[], { env = {}, stdin = '' }: Settings = {}): Promise<Ended> => {
    const child = startProgram([process.execPath, program, ...args], env)
    child.stdin.end(stdin)
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ])
    return { code, stdout, stderr }
  }
  /** Starts a command that runs until it is ended. On a terminal its stdin takes single keys. */
  const start = (args: readonly string[], env: Record<string, string>, { isTerminal = false } = {}): Running => {
    const child = startProgram([...(isTerminal ? terminal : []), process.execPath, program, ...args], env)
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => void (output += part))
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    return {
      output: () => output,
      ended,
      press: (keys) => void child.stdin.write(keys),
      kill: (signal) => {
        child.kill(signal)
        return ended
      },
    }
  }
  return { folder, run, start, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
