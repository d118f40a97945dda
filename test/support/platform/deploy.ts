import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../../../scripts/support/paths.ts'
import type { Platform } from './server.ts'

export interface DeployRun {
  code: number
  output: string
}

const program = join(root, 'scripts', 'deploy.ts')
const serviceAddress = join(import.meta.dirname, 'service-address.ts')

/** Runs `npm run deploy` without npm and without a terminal, against the stand-in. */
export function runDeploy(
  platform: Platform,
  { args = [], env = {}, home }: { args?: string[]; env?: Record<string, string>; home: string },
): Promise<DeployRun> {
  platform.heal()
  const child = spawn(process.execPath, [program, '--wait', '1', ...args], {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CONFIG_HOME: home,
      CLOUDFLARE_API_BASE_URL: platform.url,
      CLOUDFLARE_API_TOKEN: platform.state.token,
      DEPLOY_FOLDER: join(home, '.deploy'),
      PLATFORM_STAND_IN: platform.url,
      NODE_OPTIONS: `--import=${serviceAddress}`,
      ...env,
    } as Partial<NodeJS.ProcessEnv> as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
