import { paginate } from '@event-commerce/client'
import { Alert, Group, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, get, getList, type Schema } from '../../api'
import { type SendHeaders, useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { type Column, RecordList } from '../../parts/record-list'
import { Refusal } from '../../parts/refusal'
import { formatCount, loadWords, plural } from '../../words'
import type { ImportResult } from './use-import'

const route = getRouteApi('/shell/editions/$edition/imports/$import')
const t = await loadWords('dataImports')
const pageSize = 50
/** More than one call may change. */
const maxChanges = 500

type ProductMapping = Schema['ProductMapping']
type Change = Schema['MapProduct'] | Schema['CreateProduct'] | Schema['IgnoreProduct']

const patchProducts = (id: string, mappings: Change[], headers: SendHeaders) =>
  api.PATCH('/v1/data-imports/{id}/product-mappings', { params: { path: { id } }, headers, body: { mappings } })

const filters: Filter[] = [{ key: 'is_mapped', label: t.isDecided, kind: 'boolean' }]

/** Maps the products of the file to those of the edition. */
export function ProductStep({ result: { data: row } }: { result: ImportResult }) {
  const { edition, import: id } = route.useParams()
  const { step: _, ...search } = route.useSearch()
  const navigate = useNavigate()
  const { ordering = 'position', page, cursor, search: text, is_mapped } = search
  const query = { page_size: pageSize, page, cursor, search: text, is_mapped, ordering: [ordering as 'position'] }
  const list = useQuery(getList('/v1/data-imports/{id}/product-mappings', { params: { path: { id }, query } }))
  const products = useQuery(get('/v1/products', { params: { query: { edition_id: edition, page_size: 500 } } })).data
  const isFixed = !row.allowed_actions.includes('update_product_mappings')
  const { unmapped } = row.product_summary
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm">
          {unmapped > 0 ? (
            <b>{plural(unmapped, t.undecidedProducts)}</b>
          ) : (
            plural(row.product_summary.total, t.decidedProducts)
          )}
        </Text>
        <Group gap="xs">
          {unmapped > 0 && !isFixed && <CreateAll id={id} count={unmapped} />}
          {!isFixed && (
            <ActionButton
              reason={unmapped > 0 ? t.decideProducts : null}
              onClick={() => void navigate({ to: '.', search: {} as never })}
            >
              {t.continue}
            </ActionButton>
          )}
        </Group>
      </Group>
      <FilterBar search={{ search: text, is_mapped }} filters={filters} searchHint={t.productSearch} />
      <RecordList
        name="import-products"
        label={t.steps.products}
        list={list}
        search={{ search: text, is_mapped, page, ordering } as { ordering: string; page?: number }}
        columns={listColumns(id, products?.results ?? [], isFixed)}
        rowKey={(one) => one.id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.productCount)}
        empty={{ title: t.noProducts }}
      />
    </Stack>
  )
}

const listColumns = (
  id: string,
  products: readonly Schema['ProductListItem'][],
  isFixed: boolean,
): Column<ProductMapping>[] => [
  {
    key: 'product',
    label: t.inFile,
    sort: 'product',
    cell: ({ product, variant, location, options }) => (
      <>
        {product}
        <Text size="xs" c="dimmed" fw={400}>
          {[variant, location, ...options].filter((part) => part !== null).join(' · ')}
        </Text>
      </>
    ),
  },
  {
    key: 'rows_count',
    label: t.rows,
    sort: 'rows_count',
    isNumber: true,
    cell: ({ rows_count }) => formatCount(rows_count),
  },
  {
    key: 'decision',
    label: t.becomes,
    cell: (mapping) => <Decision id={id} mapping={mapping} products={products} isFixed={isFixed} />,
  },
  {
    key: 'origin',
    label: t.origin,
    cell: ({ is_mapped, is_suggested }) => (is_mapped ? (is_suggested ? t.suggestion : t.originYou) : t.open),
  },
]

interface DecisionProps {
  id: string
  mapping: ProductMapping
  products: readonly Schema['ProductListItem'][]
  isFixed: boolean
}

/** The answer for one product of the file. A similar product of the edition is offered first. */
function Decision({ id, mapping, products, isFixed }: DecisionProps) {
  const { action, product_id, similar_product: similar, product } = mapping
  const change = useChange((next: Change, headers) => patchProducts(id, [next], headers))
  const toChange = (value: string): Change => {
    if (value === 'create' || value === 'ignore') return { id: mapping.id, action: value }
    if (value.startsWith('var_') && product_id !== null)
      return { id: mapping.id, action: 'map', product_id, variant_id: value }
    return { id: mapping.id, action: 'map', product_id: value }
  }
  const others = products.filter((one) => one.id !== similar?.id)
  return (
    <Stack gap={4} miw={240}>
      <Select
        size="xs"
        aria-label={`${t.becomes}: ${product}`}
        placeholder={t.chooseProduct}
        searchable
        allowDeselect={false}
        disabled={isFixed || change.isPending}
        error={change.error !== null}
        data={[
          ...(similar ? [{ value: similar.id, label: `${t.similar}: ${similar.name}` }] : []),
          { value: 'create', label: `${t.createProduct}: ${product}` },
          { value: 'ignore', label: t.leaveRowsOut },
          { group: t.editionProducts, items: others.map((one) => ({ value: one.id, label: one.name })) },
        ]}
        value={action === 'map' ? product_id : action}
        onChange={(value) => value !== null && change.mutate(toChange(value))}
        comboboxProps={{ width: 340, position: 'bottom-start' }}
      />
      {similar && <Text size="xs">{t.looksLike.replace('#', () => similar.name)}</Text>}
      {action === 'map' && product_id !== null && mapping.variant !== null && (
        <VariantSelect productId={product_id} mapping={mapping} isFixed={isFixed} send={change.mutate} />
      )}
      {change.error && <Refusal error={change.error} />}
    </Stack>
  )
}

interface VariantProps {
  productId: string
  mapping: ProductMapping
  isFixed: boolean
  send: (change: Change) => void
}

/** The variant of a product of the edition that the variant in the file is. */
function VariantSelect({ productId, mapping, isFixed, send }: VariantProps) {
  const product = useQuery({
    ...get('/v1/products/{id}', { params: { path: { id: productId } } }),
    staleTime: 60_000,
  }).data
  if (!product || product.variants.length === 0) return null
  return (
    <Select
      size="xs"
      aria-label={`${t.variant}: ${mapping.variant ?? ''}`}
      placeholder={`${t.variant}: ${mapping.variant ?? ''}`}
      disabled={isFixed}
      data={product.variants.map(({ id, name }) => ({ value: id, label: name }))}
      value={mapping.variant_id}
      onChange={(variant) =>
        variant !== null && send({ id: mapping.id, action: 'map', product_id: productId, variant_id: variant })
      }
    />
  )
}

/** Creates all products that nobody has decided about. */
function CreateAll({ id, count }: { id: string; count: number }) {
  const path = '/v1/data-imports/{id}/product-mappings'
  const change = useChange(async () => {
    const changes: Change[] = []
    const query = { is_mapped: false, page_size: maxChanges }
    for await (const mapping of paginate(api, path, { params: { path: { id }, query } }))
      changes.push({ id: mapping.id, action: 'create' })
    for (let start = 0; start < changes.length; start += maxChanges)
      await patchProducts(id, changes.slice(start, start + maxChanges), { 'Idempotency-Key': crypto.randomUUID() })
  })
  return (
    <>
      <ActionButton
        operation="updateProductMappings"
        variant="default"
        loading={change.isPending}
        onClick={() => change.mutate(undefined)}
      >
        {plural(count, t.createAll)}
      </ActionButton>
      {change.error && (
        <Alert color="red" variant="outline">
          {change.error.message}
        </Alert>
      )}
    </>
  )
}
