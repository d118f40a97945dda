import { Grid, Paper, Stack, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api, getWithEtag, type Schema } from '../../api'
import { type SettingsTab, settingsTabs } from '../../parts/check-link'
import { EditForm, type Version } from '../../parts/edit-form'
import { Loaded } from '../../parts/loaded'
import { useSearchChange } from '../../parts/search-change'
import { loadWords } from '../../words'
import { Checks } from './checks'
import { GeneralFields, MessageFields, OwnDataFields, PaymentFields, WebsiteFields } from './settings-fields'
import { SettingsHeading } from './settings-heading'
import { readSettings, settingLabels, type Settings, toSettingsBody } from './settings-values'

const route = getRouteApi('/shell/editions/$edition/settings')
const t = await loadWords('editionSettings')

type Edition = Schema['EditionDetail']

const tabFields: Record<SettingsTab, typeof GeneralFields> = {
  general: GeneralFields,
  payments: PaymentFields,
  messages: MessageFields,
  website: WebsiteFields,
  data: OwnDataFields,
}

export function EditionSettings() {
  const { edition: id } = route.useParams()
  const { tab = 'general' } = route.useSearch()
  const edition = useQuery(getWithEtag('/v1/editions/{id}', { params: { path: { id } } }))
  const change = useSearchChange()
  return (
    <Loaded query={edition}>
      {(latest) => (
        <Stack gap="md">
          <SettingsHeading latest={latest} />
          <Tabs value={tab} onChange={(next) => change.set({ tab: next })} keepMounted={false}>
            <Tabs.List aria-label={t.tabsLabel}>
              {settingsTabs.map((one) => (
                <Tabs.Tab key={one} value={one}>
                  {t.tabs[one]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {settingsTabs.map((one) => (
              <Tabs.Panel key={one} value={one} pt="md">
                {one === tab && <Panel key={`${id}${tab}`} tab={tab} latest={latest} />}
              </Tabs.Panel>
            ))}
          </Tabs>
        </Stack>
      )}
    </Loaded>
  )
}

function Panel({ tab, latest }: { tab: SettingsTab; latest: Version<Edition> }) {
  const { id, is_archived } = latest.data
  const Fields = tabFields[tab]
  const { hash } = useLocation()
  // A failed check leads to its field.
  useEffect(() => {
    const field = hash === '' ? null : document.getElementById(hash)
    field?.scrollIntoView({ block: 'center' })
    field?.focus({ preventScroll: true })
  }, [hash])
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Paper withBorder p="md">
          <EditForm<Edition, Settings>
            latest={latest}
            read={readSettings}
            operation="updateEdition"
            reason={is_archived ? t.archivedReason : null}
            labels={settingLabels}
            save={(changes, headers, values) =>
              api.PATCH('/v1/editions/{id}', {
                params: { path: { id } },
                body: toSettingsBody(changes, values),
                headers,
              })
            }
          >
            {(form) => <Fields form={form} edition={latest.data} />}
          </EditForm>
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Checks edition={latest.data} />
      </Grid.Col>
    </Grid>
  )
}
