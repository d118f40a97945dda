import { Switch, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { loadWords, words } from '../../words'
import { type ResourceKind, ResourceList } from './resource-list'

const catalogueWords = await loadWords('catalogue')

const route = getRouteApi('/shell/editions/$edition/locations')
const t = catalogueWords.locations

type Location = Schema['Location']
interface Values extends Record<string, unknown> {
  name: string
  is_draft: boolean
}

const kind: ResourceKind<Location, Values> = {
  path: '/v1/locations',
  texts: t,
  operations: { create: 'createLocation', update: 'updateLocation', remove: 'deleteLocation' },
  columns: [
    { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
    {
      key: 'state',
      label: words.common.status,
      cell: ({ is_draft }) => <Status tone={is_draft ? 'act' : 'good'} label={is_draft ? t.draft : t.live} />,
    },
    { key: 'modified', label: words.common.modified, sort: 'modified', cell: (row) => <Time at={row.modified} /> },
  ],
  filters: [{ key: 'is_draft', label: t.isDraft, kind: 'boolean' }],
  defaultOrdering: 'name',
  read: (row) => ({ name: row?.name ?? '', is_draft: row?.is_draft ?? false }),
  toBody: (values) => values,
  labels: { name: words.common.name, is_draft: t.isDraft },
  fields: (form, row) => (
    <>
      <TextInput
        label={words.common.name}
        description={row ? t.renameHint : undefined}
        required
        data-autofocus
        maxLength={200}
        {...form.getInputProps('name')}
      />
      <Switch label={t.isDraft} description={t.isDraftHint} {...form.getInputProps('is_draft', { type: 'checkbox' })} />
    </>
  ),
}

export function Locations() {
  const { edition } = route.useParams()
  return <ResourceList kind={kind} edition={edition} search={route.useSearch()} />
}
