import { Alert, ColorInput, Grid, Group, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { useEdition, useEditionId } from '../../caller'
import { ImageField } from '../../parts/image-field'
import { useProductNames } from '../../parts/product-names'
import { fill, loadWords, words } from '../../words'
import { computeContrast } from './contrast'
import { PassPicture } from './pass-picture'
import { type ResourceKind, ResourceList } from './resource-list'

const catalogueWords = await loadWords('catalogue')

const route = getRouteApi('/shell/editions/$edition/pass-designs')
const t = catalogueWords.passDesigns
const minContrast = 4.5

type PassDesign = Schema['PassDesign']
interface Values extends Record<string, unknown> {
  name: string
  product_id: string | null
  background_color: string
  foreground_color: string
  label_color: string
  logo_text: string
  description: string
  logo_image_id: string | null
}

/** Texts and colours are null when they are empty. */
const toBody = (values: Partial<Values>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value === '' && key !== 'name' ? null : value]))

/** All products of the edition by id: it has at most 500. */
function ProductCell({ id }: { id: string | null }) {
  const names = useProductNames(useEditionId() ?? '')
  return <>{id === null ? t.allProducts : (names[id] ?? id)}</>
}

const kind: ResourceKind<PassDesign, Values> = {
  path: '/v1/pass-designs',
  texts: t,
  hint: t.hint,
  dialogSize: 'xl',
  operations: { create: 'createPassDesign', update: 'updatePassDesign', remove: 'deletePassDesign' },
  columns: [
    {
      key: 'name',
      label: words.common.name,
      sort: 'name',
      cell: (row) => (
        <Group gap="xs" component="span" wrap="nowrap">
          <PassPicture design={row} isSmall />
          {row.name}
        </Group>
      ),
    },
    { key: 'product', label: t.product, cell: ({ product_id }) => <ProductCell id={product_id} /> },
    { key: 'logo_text', label: t.logoText, cell: ({ logo_text }) => logo_text ?? '–' },
  ],
  filters: [],
  defaultOrdering: 'name',
  read: (row) => ({
    name: row?.name ?? '',
    product_id: row?.product_id ?? null,
    background_color: row?.background_color ?? '',
    foreground_color: row?.foreground_color ?? '',
    label_color: row?.label_color ?? '',
    logo_text: row?.logo_text ?? '',
    description: row?.description ?? '',
    logo_image_id: row?.logo_image_id ?? null,
  }),
  toBody,
  labels: { name: words.common.name, product_id: t.product, logo_text: t.logoText, background_color: t.background },
  fields: (form, row) => <PassFields form={form} row={row} />,
}

function PassFields({ form, row }: { form: UseFormReturnType<Values>; row: PassDesign | null }) {
  const edition = useEdition()
  const products = useProductNames(useEditionId() ?? '')
  const { background_color, foreground_color, label_color } = form.values
  const contrasts = [foreground_color, label_color].flatMap((color) => computeContrast(background_color, color) ?? [])
  const lowest = contrasts.length === 0 ? minContrast : Math.min(...contrasts)
  return (
    <Grid>
      <Grid.Col span={{ base: 12, sm: 7 }}>
        <Stack gap="sm">
          {row && (
            <Text size="sm" c="dimmed">
              {t.editHint}
            </Text>
          )}
          <TextInput label={words.common.name} required data-autofocus {...form.getInputProps('name')} />
          <Select
            label={t.product}
            placeholder={t.allProducts}
            clearable
            searchable
            data={Object.entries(products).map(([value, label]) => ({ value, label }))}
            {...form.getInputProps('product_id')}
          />
          <SimpleGrid cols={{ base: 1, xs: 3 }}>
            <ColorField label={t.background} {...form.getInputProps('background_color')} />
            <ColorField label={t.foreground} {...form.getInputProps('foreground_color')} />
            <ColorField label={t.label} {...form.getInputProps('label_color')} />
          </SimpleGrid>
          {lowest < minContrast && (
            <Alert variant="outline" color="yellow" role="status">
              {fill(t.contrast, { ratio: lowest.toFixed(1) })}
            </Alert>
          )}
          <TextInput label={t.logoText} description={t.logoTextHint} {...form.getInputProps('logo_text')} />
          <Textarea
            label={t.description}
            description={t.descriptionHint}
            autosize
            {...form.getInputProps('description')}
          />
          <ImageField
            label={t.logo}
            description={t.logoHint}
            organization={edition?.organization.id ?? ''}
            edition={edition?.id}
            value={form.values.logo_image_id}
            onChange={(id) => form.setFieldValue('logo_image_id', id)}
            error={form.errors['logo_image_id']}
          />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, sm: 5 }}>
        <PassPicture design={form.values} product={products[form.values.product_id ?? '']} />
      </Grid.Col>
    </Grid>
  )
}

const ColorField = (props: { label: string }) => (
  <ColorInput placeholder={t.platform} format="hex" closeOnColorSwatchClick withEyeDropper={false} {...props} />
)

export function PassDesigns() {
  const { edition } = route.useParams()
  return <ResourceList kind={kind} edition={edition} search={route.useSearch()} />
}
