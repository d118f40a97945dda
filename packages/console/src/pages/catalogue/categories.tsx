import { NumberInput, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { type LanguageCode, nameLanguage } from '../../parts/names'
import { formatCount, loadWords, words } from '../../words'
import { type ResourceKind, ResourceList } from './resource-list'
import { TranslationFields } from './translation-fields'

const catalogueWords = await loadWords('catalogue')

const route = getRouteApi('/shell/editions/$edition/categories')
const t = catalogueWords.categories

type Category = Schema['Category']
interface Values extends Record<string, unknown> {
  name: string
  name_translations: Record<string, string>
  position: number
}

const kind: ResourceKind<Category, Values> = {
  path: '/v1/categories',
  texts: t,
  operations: { create: 'createCategory', update: 'updateCategory', remove: 'deleteCategory' },
  columns: [
    { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
    { key: 'position', label: t.position, sort: 'position', isNumber: true, cell: (row) => formatCount(row.position) },
    {
      key: 'translations',
      label: t.translated,
      isNamed: true,
      cell: ({ name_translations }) =>
        Object.keys(name_translations)
          .map((code) => nameLanguage(code as LanguageCode))
          .join(', ') || '–',
    },
  ],
  filters: [],
  defaultOrdering: 'position',
  read: (row) => ({
    name: row?.name ?? '',
    name_translations: row?.name_translations ?? {},
    position: row?.position ?? 0,
  }),
  toBody: (values) => values,
  labels: { name: words.common.name, position: t.position, name_translations: catalogueWords.translations },
  fields: (form) => (
    <>
      <TextInput label={words.common.name} required data-autofocus maxLength={200} {...form.getInputProps('name')} />
      <TranslationFields
        value={form.values.name_translations}
        onChange={(translations) => form.setFieldValue('name_translations', translations)}
      />
      <NumberInput
        label={t.position}
        description={t.positionHint}
        allowDecimal={false}
        {...form.getInputProps('position')}
      />
    </>
  ),
}

export function Categories() {
  const { edition } = route.useParams()
  return <ResourceList kind={kind} edition={edition} search={route.useSearch()} />
}
