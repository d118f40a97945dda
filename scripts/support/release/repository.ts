import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { root } from '../paths.ts'

const run = promisify(execFile)

/** A sentence for who makes the release. It says what happened, what was left as it was, and what to do next. */
export class Refusal extends Error {}

export async function git(...args: string[]): Promise<string> {
  try {
    const { stdout } = await run('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 })
    return stdout.trimEnd()
  } catch (cause) {
    const { stderr = '', message } = cause as { stderr?: string; message: string }
    throw new Refusal(`git ${args[0]} failed: ${stderr.trim() || message}`, { cause })
  }
}

/** True if the command succeeds. */
export const succeeds = (...args: string[]): Promise<boolean> =>
  git(...args).then(
    () => true,
    () => false,
  )

export const findTag = (name: string): Promise<boolean> =>
  succeeds('rev-parse', '--quiet', '--verify', `refs/tags/${name}`)
