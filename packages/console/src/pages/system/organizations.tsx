import { Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, getList, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { linkTo } from '../../parts/record-link'
import { type Column, RecordList } from '../../parts/record-list'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'
import { SystemTabs } from './system-tabs'

const systemWords = await loadWords('system')

const route = getRouteApi('/shell/system/organizations')
const t = systemWords.organizations
const pageSize = 50

type Organization = Schema['Organization']

const columns: Column<Organization>[] = [
  { key: 'name', label: words.common.name, sort: 'name', cell: ({ name }) => name },
  { key: 'slug', label: t.slug, cell: ({ slug }) => slug },
  { key: 'created', label: words.common.created, sort: 'created', cell: ({ created }) => <Time at={created} date /> },
]

export function Organizations() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const { ordering = 'name', ...others } = search
  const list = useQuery(
    getList('/v1/organizations', { params: { query: { page_size: pageSize, ...others, ordering: [ordering] } } }),
  )
  const create = (
    <ActionButton operation="createOrganization" onClick={() => setOpen(true)}>
      {t.create}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.title} actions={create} />
      <SystemTabs />
      <FilterBar search={search} filters={[]} searchHint={words.common.name} />
      <RecordList
        name="organizations"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={columns}
        rowKey={({ id }) => id}
        link={({ id }) => linkTo(`/organizations/${id}`)}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint, action: create }}
      />
      <FormDialog
        title={t.create}
        isOpen={isOpen}
        close={() => setOpen(false)}
        submitLabel={words.common.create}
        done={t.created}
        initialValues={{ name: '', slug: '' }}
        send={({ name, slug }, headers) =>
          api.POST('/v1/organizations', { body: { name, ...(slug && { slug }) }, headers })
        }
        onSent={({ data }) => navigate(linkTo(`/organizations/${data.id}/members`) as never)}
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
            <TextInput label={t.slug} description={t.slugHint} {...form.getInputProps('slug')} />
          </>
        )}
      </FormDialog>
    </Stack>
  )
}
