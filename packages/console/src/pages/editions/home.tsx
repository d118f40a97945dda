import { Button, Grid, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { Empty } from '../../parts/empty'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { loadWords, words } from '../../words'
import { Faults, ServiceFaults, SetupChecks } from './home-checks'
import { NewestCampaigns, NewestImports, OpenRefunds } from './open-work'
import { SalesByDay, SalesByProduct, SalesNumbers } from './sales-sections'

const ordersWords = await loadWords('orders')

const route = getRouteApi('/shell/editions/$edition/')
const t = await loadWords('home')

type Edition = Schema['EditionDetail']

/** Shows the sales of an edition, and the work that is open. */
export function Home() {
  const { edition: id } = route.useParams()
  const edition = useQuery(get('/v1/editions/{id}', { params: { path: { id } } }))
  return <Loaded query={edition}>{(data) => <EditionHome edition={data} />}</Loaded>
}

function EditionHome({ edition }: { edition: Edition }) {
  const { id, full_name, organization } = edition
  const place = { edition: id, organization: organization.id }
  // The list counts orders in every status, and archived ones are not left out.
  const orders = useQuery(get('/v1/orders', { params: { query: { edition_id: id, page_size: 1 } } }))
  const isEmpty = orders.data?.count === 0
  return (
    <Stack>
      <Heading title={full_name} mark={<EditionMark edition={edition} />} facts={<Dates edition={edition} />} />
      <ServiceFaults />
      <Faults place={place} />
      {isEmpty ? <FirstSteps edition={id} /> : <SalesNumbers edition={edition} />}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            {!isEmpty && (
              <>
                <SalesByDay edition={edition} />
                <SalesByProduct edition={edition} />
              </>
            )}
            <SetupChecks place={place} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            {!isEmpty && <OpenRefunds edition={id} />}
            <NewestCampaigns edition={id} />
            <NewestImports edition={id} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

function EditionMark({ edition: { is_archived, is_draft } }: { edition: Edition }) {
  if (is_archived) return <Status tone="none" label={t.archived} />
  return <Status tone={is_draft ? 'act' : 'good'} label={is_draft ? t.draft : t.published} />
}

function Dates({ edition: { start_date, end_date, timezone } }: { edition: Edition }) {
  if (start_date === null) return <>{t.noDates}</>
  return (
    <>
      <Time at={start_date} date />
      {end_date !== null && (
        <>
          {' – '}
          <Time at={end_date} date />
        </>
      )}{' '}
      · {timezone}
    </>
  )
}

/** Names the first steps in an edition that has no orders. */
function FirstSteps({ edition }: { edition: string }) {
  const steps = [
    [words.common.entries.imports, 'imports', t.firstImport],
    [words.common.entries.catalogue, 'products', t.firstProducts],
    [words.common.entries.webhooks, 'webhooks', t.firstWebhooks],
  ] as const
  return (
    <Empty
      title={ordersWords.empty}
      hint={t.firstSteps}
      action={
        <Group justify="center" gap="xs">
          {steps.map(([label, page, text], index) => (
            <Button
              key={page}
              variant={index === 0 ? 'filled' : 'default'}
              title={label}
              renderRoot={(props) => <Link to={`/editions/${edition}/${page}` as never} {...props} />}
            >
              {text}
            </Button>
          ))}
        </Group>
      }
    />
  )
}
