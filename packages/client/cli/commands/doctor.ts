import type { Command } from 'commander'
import { createClient } from '../../src/index.ts'
import { openOutput, readGlobals } from '../context.ts'
import { type Connection, findConnection } from '../credentials.ts'
import { checkAccount } from '../doctor/account.ts'
import type { Check } from '../doctor/check.ts'
import { checkService } from '../doctor/service.ts'
import { exitCodes } from '../errors.ts'
import { cleanText } from '../output.ts'

const marks = { ok: '✓', warning: '!', fault: '✗', unknown: '?' } as const satisfies Record<Check['status'], string>

function formatChecks(checks: readonly Check[]): string {
  const longest = Math.max(...checks.map(({ check }) => check.length))
  const indent = ' '.repeat(longest + 4)
  return checks
    .flatMap(({ check, status, detail, remedy }) => [
      `${marks[status]} ${check.padEnd(longest)}  ${cleanText(detail)}`,
      ...(remedy === null ? [] : [`${indent}${cleanText(remedy)}`]),
    ])
    .join('\n')
}

async function runChecks(connection: Connection): Promise<Check[]> {
  const { isReachable, checks } = await checkService(connection)
  if (!isReachable) return checks
  const { url, token } = connection
  const client = createClient({ url, ...(token === null ? {} : { token }), maxRetries: 2 })
  return [...checks, ...(await checkAccount(client, connection))]
}

async function examine(command: Command): Promise<void> {
  const { url, token } = readGlobals(command)
  const connection = await findConnection({ url, token })
  const output = openOutput(command)
  const progress = output.progress('Checking')
  const checks = await runChecks(connection).finally(progress.stop)
  const faults = checks.filter(({ status }) => status === 'fault')
  if (!output.isTable) output.object({ is_healthy: faults.length === 0, url: connection.url, checks })
  else {
    process.stdout.write(`${formatChecks(checks)}\n`)
    output.note(faults.length === 0 ? 'Nothing is wrong.' : `${faults.length} of ${checks.length} checks have failed.`)
  }
  if (faults.length > 0) process.exitCode = exitCodes.failed
}

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('Check the connection, your login and your organisations, and say how to mend what is wrong')
    .addHelpText(
      'after',
      `
The exit code is 1 if something is wrong. What your roles do not let you see is marked with a question mark.

Examples:
  ecm doctor
  ecm doctor --json | jq '.checks[] | select(.status == "fault")'`,
    )
    .action((_options: object, command: Command) => examine(command))
}
