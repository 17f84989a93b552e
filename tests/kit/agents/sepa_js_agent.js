// The rules of the test profile by sepa-js: node sepa_js_agent.js PROFILE.json [CA.crt HTTPS WSS]
// Says one JSON object. With a CA it registers, logs in and does the same over TLS.
const fs = require('fs')
const https = require('https')
const { Jsap, SEPA, client } = require('@arces-wot/sepa-js')

const [, , file, ca, httpsPort, wssPort] = process.argv
const profile = JSON.parse(fs.readFileSync(file, 'utf8'))
const said = {}

// The next event of one of these names, as [name, value].
const next = (subscription, ...names) => new Promise((resolve) => {
  names.forEach((name) => subscription.once(name, (value) => resolve([name, value])))
})

const failure = (promise) => promise.then(
  () => 'none',
  (error) => ({ status: error.response && error.response.status, body: error.response && error.response.data })
)

const values = (results) => results.results.bindings.map((each) => each.value.value)

async function rules (api) {
  const update = (id) => api.update(profile.updates[id].sparql)
  const query = (id) => api.query(profile.queries[id].sparql)
  said.deleted = await update('DELETE_ALL')
  said.empty = (await query('ALL')).results.bindings
  const subscription = api.subscribe(profile.queries.VAIMEE.sparql, undefined, 'vaimee')
  said.subscribed = (await next(subscription, 'subscribed', 'error'))[1]
  let notified = next(subscription, 'notification')
  await update('VAIMEE')
  said.second = (await notified)[1]
  notified = next(subscription, 'notification')
  await update('DELETE_ALL')
  said.third = (await notified)[1]
  await update('HUGE')
  said.huge = values(await query('HUGE'))[0]
  said.count = (await query('COUNT')).results.bindings[0].count.value
  const closed = next(subscription, 'unsubscribed', 'error')
  subscription.unsubscribe()
  said.unsubscribed = await closed
}

async function plain () {
  const app = new Jsap(JSON.parse(JSON.stringify(profile)))
  await rules(app.api)
  await app.update('RANDOM', { random: 'r1' })
  said.random = values(await app.query('RANDOM'))
  said.update_wrong = await failure(app.update('WRONG'))
  said.query_wrong = await failure(app.query('WRONG'))
  const wrong = app.api.subscribe(profile.queries.WRONG.sparql, undefined, 'wrong')
  said.subscribe_wrong = (await next(wrong, 'error', 'subscribed'))[1]
  // Two subscriptions on one socket, told apart by their spuids.
  const both = ['RANDOM', 'RANDOM1'].map((id) => app.subscribe(id))
  const first = await Promise.all(both.map((each) => next(each, 'subscribed', 'error')))
  said.spuids = first.map((each) => each[1].spuid)
  const told = next(both[1], 'notification')
  await app.update('RANDOM1', { random: 'r2' })
  said.random1 = values((await told)[1].addedResults)
}

async function secure () {
  const oauth = `https://localhost:${httpsPort}/oauth`
  // An agent of its own each time: sepa-js writes it into messages, which fails once it was used.
  const parameters = () => ({
    host: 'localhost',
    oauth: { enable: true, register: `${oauth}/register`, tokenRequest: `${oauth}/token` },
    sparql11protocol: {
      protocol: 'https',
      port: Number(httpsPort),
      query: { path: '/secure/query', method: 'POST', format: 'JSON' },
      update: { path: '/secure/update', method: 'POST', format: 'JSON' }
    },
    sparql11seprotocol: {
      protocol: 'wss',
      availableProtocols: { wss: { port: Number(wssPort), path: '/secure/subscribe' } }
    },
    options: { httpsAgent: new https.Agent({ ca: fs.readFileSync(ca) }) }
  })
  said.stranger = await failure(client.secure.register('nobody', parameters()))
  // What register returns is bound to the default ports: its credentials are used on ours.
  const registered = await client.secure.register('SEPATest', parameters())
  const make = () => new client.secure(registered.clientID, registered.clientSecret, parameters())
  const api = make()
  await api.login()
  await rules(api)
  const again = make()
  await again.login()
  again.webToken.access_token = 'forged.by.nobody'
  said.renewed = (await again.query(profile.queries.COUNT.sparql)).results.bindings[0].count.value
  const unauthorized = new SEPA(parameters())
  said.anonymous = await failure(unauthorized.query(profile.queries.ALL.sparql))
}

(ca ? secure() : plain()).then(() => {
  process.stdout.write(JSON.stringify(said) + '\n', () => process.exit(0))
}, (error) => {
  process.stderr.write(`${error.stack || error}\n`)
  process.exit(1)
})
