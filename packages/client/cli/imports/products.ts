import { closest } from 'fastest-levenshtein'
import { type components, type operations, paginate } from '../../src/index.ts'
import { canAsk, choose } from '../ask.ts'
import { UsageError } from '../errors.ts'
import { type ImportJob, importPath, quoteWord, readPair } from './job.ts'

type ProductMapping = components['schemas']['ProductMapping']
type Change = operations['updateProductMappings']['requestBody']['content']['application/json']['mappings'][number]

const path = '/v1/data-imports/{id}/product-mappings'
const maxChanges = 500

const nameOf = ({ product, variant, location }: ProductMapping): string =>
  [product, variant, location].filter((part) => part !== null).join(', ')

async function loadProducts({ context, id }: ImportJob): Promise<ProductMapping[]> {
  const products: ProductMapping[] = []
  for await (const product of paginate(context.client, path, { params: { path: { id }, query: {} } }))
    products.push(product)
  return products
}

async function updateProducts(job: ImportJob, changes: readonly Change[]): Promise<void> {
  for (let start = 0; start < changes.length; start += maxChanges)
    await job.context.client.PATCH(path, {
      ...importPath(job),
      body: { mappings: changes.slice(start, start + maxChanges) },
    })
}

/** Makes the changes of `--product` that are not made yet. Returns true if there were any. */
export async function applyProductOptions(job: ImportJob): Promise<boolean> {
  if (job.options.product.length === 0) return false
  const products = await loadProducts(job)
  const changes = job.options.product.flatMap((pair) => {
    const { name, value } = readPair('--product', pair)
    const matches = products.filter((one) => one.product === name || nameOf(one) === name)
    if (matches.length === 0)
      throw new UsageError(`The file has no product "${name}". Did you mean "${closest(name, products.map(nameOf))}"?`)
    return matches.filter((one) => !isDecided(one, value)).map((one) => buildChange(one, value))
  })
  await updateProducts(job, changes)
  return changes.length > 0
}

const isDecided = ({ action, product_id, variant_id }: ProductMapping, value: string): boolean =>
  action === value || (action === 'map' && (product_id === value || variant_id === value))

function buildChange({ id, product_id, product }: ProductMapping, value: string): Change {
  if (value === 'create' || value === 'ignore') return { id, action: value }
  if (value.startsWith('prd_')) return { id, action: 'map', product_id: value }
  if (value.startsWith('var_') && product_id !== null) return { id, action: 'map', product_id, variant_id: value }
  throw new UsageError(`Say with --product "${product}=…" create, ignore, or the id of a product, such as prd_….`)
}

/** Decides the products that are still open. In a pipe it says how to decide them. */
export async function decideProducts(job: ImportJob): Promise<void> {
  const products = (await loadProducts(job)).filter(({ is_mapped }) => !is_mapped)
  if (!canAsk()) throw new UsageError(describeOpen(products))
  const changes: Change[] = []
  for (const product of products) changes.push(await askForProduct(product))
  await updateProducts(job, changes)
}

function describeOpen(products: readonly ProductMapping[]): string {
  const lines = products.map((one) => {
    const { similar_product: similar } = one
    const choices = [...(similar === null ? [] : [similar.id]), 'create', 'ignore']
    const hint = similar === null ? 'is not in the edition' : `looks like "${similar.name}"`
    const options = choices.map((choice) => `--product ${quoteWord(`${nameOf(one)}=${choice}`)}`)
    return `  "${nameOf(one)}" ${hint}.\n    ${options.join(' or ')}`
  })
  return `Some products are unclear. Decide them with options and run the command again; it goes on with the same import.\n${lines.join('\n')}`
}

function askForProduct(product: ProductMapping): Promise<Change> {
  const { similar_product: similar, rows_count } = product
  const rows = rows_count === 1 ? '1 row' : `${rows_count} rows`
  const choices = [
    ...(similar === null ? [] : [{ value: similar.id, label: `It is "${similar.name}"` }]),
    { value: 'create', label: 'Create it' },
    { value: 'ignore', label: 'Leave its rows out' },
  ]
  return choose(`"${nameOf(product)}" (${rows}) is not in the edition.`, choices).then((value) =>
    buildChange(product, value),
  )
}
