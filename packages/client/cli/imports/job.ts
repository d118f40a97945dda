import type { components } from '../../src/index.ts'
import type { Context } from '../context.ts'
import { UsageError } from '../errors.ts'

export type DataImport = components['schemas']['DataImport']

export interface ImportOptions {
  edition?: string
  kind: 'orders' | 'customers'
  source?: string
  map: readonly string[]
  ignore: readonly string[]
  constant: readonly string[]
  product: readonly string[]
  option: readonly string[]
  dryRun?: boolean
  skipInvalid?: boolean
  yes?: boolean
}

/** One import of a file, on its way to its end. */
export interface ImportJob {
  context: Context
  id: string
  /** The file as the person named it. */
  path: string
  options: ImportOptions
}

export const importPath = ({ id }: { id: string }) => ({ params: { path: { id } } })

export const readImport = async ({ context, id }: Pick<ImportJob, 'context' | 'id'>): Promise<DataImport> =>
  (await context.client.GET('/v1/data-imports/{id}', importPath({ id }))).data

/** Splits `name=value` at its last `=`, because headers may contain one. */
export function readPair(option: string, pair: string): { name: string; value: string } {
  const at = pair.lastIndexOf('=')
  if (at < 1) throw new UsageError(`"${pair}" has to be ${option} "name=value".`)
  return { name: pair.slice(0, at), value: pair.slice(at + 1) }
}

/** Writes a text as one word of a shell. */
export const quoteWord = (text: string): string =>
  /^[\w.=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
