import { List, Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, get, getList, type Schema } from '../../api'
import { FormDialog } from '../../parts/form-dialog'
import { fill, loadWords, plural, words } from '../../words'

const catalogueWords = await loadWords('catalogue')

const t = catalogueWords.products

interface Props {
  product: Schema['Product']
  isOpen: boolean
  close: () => void
}

/** Merges another product into this one, after it has said what becomes of both. */
export function MergeDialog({ product, isOpen, close }: Props) {
  return (
    <FormDialog
      title={t.mergeTitle}
      isOpen={isOpen}
      close={close}
      submitLabel={t.mergeSubmit}
      isDangerous
      done={t.merged}
      size="lg"
      initialValues={{ product_id: null as string | null }}
      canSubmit={({ product_id }) => product_id !== null}
      send={({ product_id }, headers) =>
        api.POST('/v1/products/{id}/merge', {
          params: { path: { id: product.id } },
          body: { product_id: product_id ?? '' },
          headers,
        })
      }
    >
      {(form) => (
        <>
          <OtherProduct
            product={product}
            value={form.values.product_id}
            onChange={(id) => form.setFieldValue('product_id', id)}
            error={form.errors['product_id']}
          />
          {form.values.product_id !== null && <Consequences product={product} other={form.values.product_id} />}
        </>
      )}
    </FormDialog>
  )
}

interface OtherProps {
  product: Schema['Product']
  value: string | null
  onChange: (id: string | null) => void
  error: React.ReactNode
}

function OtherProduct({ product, value, onChange, error }: OtherProps) {
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 300)
  const query = {
    edition_id: product.edition_id,
    page_size: 20,
    ordering: ['name' as const],
    // The text of the chosen product is in the field too.
    ...(search !== '' && { search }),
  }
  const products = useQuery(getList('/v1/products', { params: { query } }))
  return (
    <Select
      label={t.mergeOther}
      description={t.mergeOtherHint}
      placeholder={t.chooseProduct}
      data-autofocus
      searchable
      clearable
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      nothingFoundMessage={words.common.noMatch}
      data={(products.data?.results ?? [])
        .filter(({ id }) => id !== product.id)
        .map(({ id, name }) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
      error={error}
    />
  )
}

function Consequences({ product, other }: { product: Schema['Product']; other: string }) {
  const second = useQuery(get('/v1/products/{id}', { params: { path: { id: other } } })).data
  const query = { edition_id: product.edition_id, product_id: other, page_size: 1 }
  const tickets = useQuery(get('/v1/purchases', { params: { query } })).data
  if (!second) return null
  return (
    <div aria-live="polite">
      <Text size="sm" mb="xs">
        {fill(t.mergeText, { other: second.name, name: product.name })}
      </Text>
      <List size="sm" spacing={2}>
        {tickets && <List.Item>{plural(tickets.count, t.mergeSold)}</List.Item>}
        {t.mergePoints.map((point) => (
          <List.Item key={point}>{point}</List.Item>
        ))}
      </List>
      <Text size="sm" fw={600} mt="xs">
        {t.mergeFinal}
      </Text>
    </div>
  )
}
