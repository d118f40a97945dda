import type { Command } from 'commander'
import { spawn } from 'node:child_process'
import { consolePages } from '../console-pages.ts'
import { openOutput, readGlobals } from '../context.ts'
import { findConnection } from '../credentials.ts'
import { UsageError } from '../errors.ts'
import { findOperationId, type Operation, operationIds, operationTable, suggestNames } from '../operations.ts'

const errorCodes = [...new Set(Object.values(operationTable).flatMap(({ errors }) => errors))].toSorted()

const slug = (tag: string): string => tag.toLowerCase().replaceAll(' ', '-')

const operationPath = ({ tag, method, path }: Operation): string =>
  `/docs#tag/${slug(tag)}/${method.toUpperCase()}${path}`

/** Finds the path of a page by its name. The service knows codes that no operation lists, such as those of fields. */
async function findPath(url: string, name: string): Promise<string> {
  if (name === 'errors') return '/docs/errors'
  if (name === 'console') return '/console'
  if (consolePages.some((page) => page === name)) return `/console?open=${name}`
  const operation = operationTable[findOperationId(name) ?? '']
  if (operation) return operationPath(operation)
  const path = `/docs/errors/${encodeURIComponent(name)}`
  if (errorCodes.includes(name)) return path
  const response = await fetch(url + path, { signal: AbortSignal.timeout(10_000) }).catch(() => null)
  await response?.body?.cancel()
  if (response?.ok) return path
  const suggestions = suggestNames(name, [...consolePages, ...operationIds, ...errorCodes])
  const hint = suggestions.length === 0 ? '' : ` Did you mean ${suggestions.join(', ')}?`
  throw new UsageError(`There is no page, no operation and no error ${name}.${hint}`)
}

/** The program that opens an address on this machine. Null if there is no screen. */
function findBrowser(): string[] | null {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = process.env
  if (BROWSER) return [BROWSER]
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : null
}

/** Opens the address, and returns whether that worked. The browser stays when the command ends. */
function openBrowser(address: string): Promise<boolean> {
  const [file, ...args] = findBrowser() ?? []
  if (file === undefined) return Promise.resolve(false)
  return new Promise((resolve) => {
    const child = spawn(file, [...args, address], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

export function addOpen(program: Command): void {
  program
    .command('open')
    .description('Open the reference of the API, the page of an operation or an error, or a page of the console')
    .argument('[page]', 'id of an operation, code of an error, "errors", "console", or a page of the console')
    .addHelpText(
      'after',
      `
In a pipe, and where no browser can be opened, the address is printed.

Pages of the console: ${consolePages.join(', ')}.

Examples:
  ecm open
  ecm open console
  ecm open orders
  ecm open listOrders
  ecm open campaign_not_ready`,
    )
    .action(async (page: string | undefined, _options: object, command: Command) => {
      const { url } = await findConnection({ url: readGlobals(command).url })
      const address = url + (page === undefined ? '/docs' : await findPath(url, page))
      const output = openOutput(command)
      if (output.isTable && (await openBrowser(address))) output.note(`Opened ${address}`)
      else process.stdout.write(`${address}\n`)
    })
}
