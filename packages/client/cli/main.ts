import { Command, CommanderError } from 'commander'
import { addApi } from './commands/api.ts'
import { addCampaign } from './commands/campaign.ts'
import { addDeliveries } from './commands/deliveries.ts'
import { addExport } from './commands/export.ts'
import { addImport } from './commands/import.ts'
import { addListen } from './commands/listen.ts'
import { addLogin } from './commands/login.ts'
import { addRecover } from './commands/recover.ts'
import { addTrigger } from './commands/trigger.ts'
import { addVerify } from './commands/verify.ts'
import { readGlobals } from './context.ts'
import { describeError, exitCodes, toProblem, UsageError } from './errors.ts'
import { cleanLines } from './output.ts'
import { version } from './version.ts'

const program = new Command('ecm')
  .description('Command line of the Event Commerce Management Service')
  .version(version)
  .option('--url <address>', 'address of the service (ECM_URL)')
  .option('--token <token>', 'access token (ECM_TOKEN)')
  .option('--json', 'print JSON, as in a pipe')
  .exitOverride()
  .showHelpAfterError('Add --help for the options and examples.')
  .addHelpText(
    'after',
    `
Data goes to stdout, everything else to stderr. The exit code is 0 for success, 1 for an error of the API or the
network, and 2 for wrong usage.`,
  )

const commands = [
  addLogin,
  addApi,
  addListen,
  addTrigger,
  addVerify,
  addImport,
  addExport,
  addCampaign,
  addDeliveries,
  addRecover,
]
for (const add of commands) add(program)

// A reader such as \`head\` may close the pipe before everything is printed.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(exitCodes.success)
})

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.success : exitCodes.usage
  else {
    const isJson = readGlobals(program).json === true || !process.stderr.isTTY
    process.stderr.write(`${isJson ? JSON.stringify(toProblem(error)) : cleanLines(describeError(error))}\n`)
    process.exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failed
  }
}
