import { Anchor, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { get } from '../../api'
import { Section } from '../../parts/section'
import { formatCount, loadWords, plural } from '../../words'
import { SegmentButton } from './segment-dialog'
import { type CampaignDetail, isRunning } from './types'

const t = await loadWords('campaigns')
const pageSize = 100

/** The links of the message, the most clicked first. */
export function Links({ campaign }: { campaign: CampaignDetail }) {
  const { edition = '' } = useParams({ strict: false })
  const { id, status } = campaign
  const query = { ordering: ['-people' as const], page_size: pageSize }
  const list = useQuery({
    ...get('/v1/campaigns/{id}/links', { params: { path: { id }, query } }),
    refetchInterval: isRunning(status) ? 5000 : 30_000,
  })
  if (!list.data || list.data.count === 0) return null
  const { results, count } = list.data
  return (
    <Section title={t.links} hint={count > pageSize ? plural(count, t.linkCount) : undefined}>
      <Table horizontalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.link}</Table.Th>
            <Table.Th ta="right">{t.linkPeople}</Table.Th>
            <Table.Th ta="right">{t.clicks}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {t.byMachines}
            </Table.Th>
            <Table.Td w={40} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {results.map(({ position, url, people, clicks, machine_clicked }) => (
            <Table.Tr key={position}>
              <Table.Td className="break">
                {/^https?:/i.test(url) ? (
                  <Anchor href={url} target="_blank" rel="noopener noreferrer" size="sm" className="break">
                    {url}
                  </Anchor>
                ) : (
                  <Text size="sm" className="break">
                    {url}
                  </Text>
                )}
              </Table.Td>
              <Table.Td className="numbers">
                {people === 0 ? (
                  formatCount(0)
                ) : (
                  <Link
                    className="link"
                    to="/editions/$edition/campaigns/$campaign/recipients"
                    params={{ edition, campaign: id }}
                    search={{ link: String(position) }}
                  >
                    {formatCount(people)}
                  </Link>
                )}
              </Table.Td>
              <Table.Td className="numbers">{formatCount(clicks)}</Table.Td>
              <Table.Td className="numbers" visibleFrom="sm">
                {formatCount(machine_clicked)}
              </Table.Td>
              <Table.Td>
                {people > 0 && (
                  <SegmentButton campaign={campaign} filter={{ link: position }} name={t.segmentNames.clicked} isIcon />
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
}
