import { Select, SimpleGrid, NumberInput, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, get, getList, type Schema } from '../../api'
import { useArchivedReason, useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { formatCount, formatMoney, loadWords, plural, words } from '../../words'
import { CatalogueTabs } from './catalogue-tabs'
import { useSales } from './sales'

const catalogueWords = await loadWords('catalogue')

const route = getRouteApi('/shell/editions/$edition/products')
const t = catalogueWords.products
const pageSize = 100

type Product = Schema['ProductListItem']

export const ProductState = ({ isDraft }: { isDraft: boolean }) => (
  <Status tone={isDraft ? 'act' : 'good'} label={isDraft ? t.draft : t.live} />
)

/** The categories of the edition by id: it has at most 500. */
export function useCategoryNames(edition: string): Record<string, string> {
  const query = { edition_id: edition, page_size: 500, ordering: ['position' as const] }
  const categories = useQuery(get('/v1/categories', { params: { query } }))
  return Object.fromEntries((categories.data?.results ?? []).map(({ id, name }) => [id, name]))
}

function buildColumns(
  categories: Readonly<Record<string, string>>,
  sales: ReadonlyMap<string, number> | undefined,
  currency: string,
): Column<Product>[] {
  return [
    { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
    { key: 'state', label: t.state, cell: ({ is_draft }) => <ProductState isDraft={is_draft} /> },
    {
      key: 'category',
      label: t.category,
      isNamed: true,
      cell: ({ category_id: id }) => (id === null ? '–' : (categories[id] ?? id)),
    },
    {
      key: 'sold',
      label: words.common.tickets,
      isNumber: true,
      isMain: true,
      cell: ({ id }) => (sales ? formatCount(sales.get(id) ?? 0) : '…'),
    },
    {
      key: 'price',
      label: t.price,
      isNumber: true,
      isNamed: true,
      cell: ({ price }) => (price === null ? t.noPrice : formatMoney(price, currency)),
    },
    {
      key: 'deposit',
      label: t.deposit,
      isNumber: true,
      isNamed: true,
      cell: ({ deposit }) => (deposit === null ? '–' : formatMoney(deposit, currency)),
    },
    {
      key: 'variants',
      label: t.variants,
      isNumber: true,
      isNamed: true,
      cell: ({ variants_count }) => formatCount(variants_count),
    },
    {
      key: 'options',
      label: t.options,
      isNumber: true,
      isHidden: true,
      cell: ({ options_count }) => formatCount(options_count),
    },
    {
      key: 'wallet',
      label: t.wallet,
      isNamed: true,
      cell: ({ is_wallet_enabled }) => words.common[is_wallet_enabled ? 'yes' : 'no'],
    },
    {
      key: 'modified',
      label: words.common.modified,
      sort: 'modified',
      isHidden: true,
      cell: ({ modified }) => <Time at={modified} />,
    },
  ]
}

export function Products() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const currency = useEdition()?.currency ?? 'dkk'
  const categories = useCategoryNames(edition)
  const sales = useSales(edition)
  const { ordering = 'name', ...others } = search
  const query = { edition_id: edition, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/products', { params: { query } }))
  const filters: Filter[] = [
    { key: 'category_id', label: t.category, kind: 'choice', options: categories },
    { key: 'is_draft', label: t.isDraft, kind: 'boolean' },
  ]
  const columns = buildColumns(categories, sales, currency)
  const create = <CreateProduct edition={edition} categories={categories} />
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={create} />
      <CatalogueTabs edition={edition} />
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="products"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => ({ to: '/editions/$edition/products/$product', params: { edition, product: id } })}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: create }}
      />
    </Stack>
  )
}

function CreateProduct({ edition, categories }: { edition: string; categories: Record<string, string> }) {
  const navigate = useNavigate()
  const organization = useEdition()?.organization.id
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActionButton operation="createProduct" reason={useArchivedReason()} onClick={() => setOpen(true)}>
        {t.create}
      </ActionButton>
      <FormDialog
        title={t.create}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submitLabel={words.common.create}
        initialValues={{ name: '', price: '', category_id: null as string | null }}
        send={({ price, ...body }, headers) =>
          api.POST('/v1/products', {
            body: {
              ...body,
              price: price === '' ? null : Number(price),
              is_draft: true,
              organization_id: organization ?? '',
              edition_id: edition,
            },
            headers,
          })
        }
        onSent={({ data }) =>
          navigate({ to: '/editions/$edition/products/$product', params: { edition, product: data.id } })
        }
      >
        {(form) => (
          <>
            <TextInput
              label={words.common.name}
              required
              data-autofocus
              maxLength={200}
              {...form.getInputProps('name')}
            />
            <SimpleGrid cols={2}>
              <NumberInput
                label={t.price}
                description={t.priceHint}
                min={0}
                decimalScale={2}
                {...form.getInputProps('price')}
              />
              <Select
                label={t.category}
                mt="auto"
                placeholder={t.noCategory}
                clearable
                data={Object.entries(categories).map(([value, label]) => ({ value, label }))}
                {...form.getInputProps('category_id')}
              />
            </SimpleGrid>
          </>
        )}
      </FormDialog>
    </>
  )
}
